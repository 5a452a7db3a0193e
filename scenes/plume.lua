return scene {}
