"""The water surface of a run in the unit cube, read with VTK: it does not pass the sides, nor a ball by more than a
quarter of a cell. surface_reach.py FILE CELL X Y Z RADIUS"""
import math
import sys

from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

reader = vtkXMLPolyDataReader()
reader.SetFileName(sys.argv[1])
reader.Update()
mesh = reader.GetOutput()
cell, *center, radius = map(float, sys.argv[2:])
points = [mesh.GetPoint(i) for i in range(mesh.GetNumberOfPoints())]
if not points:
    sys.exit(f"FAIL {sys.argv[1]}: no points")
beyond = max(max(-x, x - 1) for p in points for x in p) / cell
into = max(radius - math.dist(p, center) for p in points) / cell
print(f"{beyond:.2e} cells beyond the domain, {into:.3f} into the ball")
if beyond > 1e-6 or into > 0.25:
    sys.exit(f"FAIL {sys.argv[1]}")
