"""Reads VTK files with VTK and compares them with the formulas they were written from
(tests/unit/io/test_frames.c, synthetic.h)."""
import math
import os
import sys
import xml.etree.ElementTree as ET

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkCommand
from vtkmodules.vtkIOXML import (vtkXMLImageDataReader, vtkXMLPolyDataReader,
                                 vtkXMLUnstructuredGridReader)

folder = sys.argv[1]
failures = 0


def check(good, what):
    global failures
    print("ok   " if good else "FAIL ", what)
    failures += not good


def read(reader, name):
    errors = []
    reader.AddObserver(vtkCommand.ErrorEvent, lambda *a: errors.append(a))
    reader.SetFileName(os.path.join(folder, name))
    reader.Update()
    check(not errors, name + " is read without error")
    return reader.GetOutput()


def array(data, name):
    return vtk_to_numpy(data.GetArray(name))


def sample(count, components):
    i = np.arange(count)[:, None]
    c = np.arange(components)[None, :]
    # the C program's sin and this one's may differ in the last bit
    return np.squeeze(np.sin(0.37 * i + c) * 1e3 + i / 7)


def same(a, b, what, tolerance=1e-12):
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    good = a.shape == b.shape and np.all(np.abs(a - b) <= tolerance * (1 + np.abs(b)))
    check(good, f"{what}: {a.shape} {b.shape}")
    return good


def images():
    for name, cells in (("image2.vti", (211, 97, 0)), ("image3.vti", (31, 17, 43)),
                        ("one.vti", (1, 1, 1))):
        d = read(vtkXMLImageDataReader(), name)
        total = math.prod(max(n, 1) for n in cells)
        check(d.GetExtent() == (0, cells[0], 0, cells[1], 0, cells[2]), name + " extent")
        check(d.GetOrigin() == (-1.5, 0.1, 2.0), name + " origin")
        check(d.GetSpacing() == (0.1, 0.1, 0.1), name + " spacing")
        check(d.GetNumberOfCells() == total, name + " cells")
        check(d.GetDataDimension() == (2 if cells[2] == 0 else 3), name + " dimension")
        same(array(d.GetCellData(), "scalar"), sample(total, 1).reshape(total), name + " scalar")
        same(array(d.GetCellData(), "vector"), sample(total, 3).reshape(total, 3), name + " vector")
        points = math.prod(n + 1 for n in cells)
        same(array(d.GetPointData(), "nodal"), sample(points, 1), name + " nodal")
        check(array(d.GetFieldData(), "TimeValue")[0] == 0.75, name + " time")


def poly():
    d = read(vtkXMLPolyDataReader(), "poly.vtp")
    check((d.GetNumberOfVerts(), d.GetNumberOfLines(), d.GetNumberOfPolys()) == (1, 2, 2),
          "poly: kinds of cells")
    ids = [[d.GetCell(i).GetPointId(k) for k in range(d.GetCell(i).GetNumberOfPoints())]
           for i in range(d.GetNumberOfCells())]
    check(ids == [[4], [0, 2], [4, 3, 2], [0, 1, 2], [0, 1, 2, 3]], f"poly: cells {ids}")
    check(d.GetPoint(4) == (0.1, 0.2, 0.3), "poly: points in double precision")
    check(list(array(d.GetCellData(), "part")) == [1, 2, 3, 4, 0.1], "poly: cell data")
    check(array(d.GetPointData(), "pull").ravel().tolist() == list(range(15)), "poly: point data")


def grid():
    d = read(vtkXMLUnstructuredGridReader(), "grid.vtu")
    check([d.GetCellType(i) for i in range(3)] == [10, 10, 5], "grid: types")
    check([d.GetCell(1).GetPointId(k) for k in range(4)] == [1, 2, 3, 4], "grid: cell 1")
    check(array(d.GetCellData(), "id").tolist() == [7, 1 << 40, -3], "grid: 64-bit data")


def frame(dim):
    name = f"frames{dim}/grid_000003.vti"
    d = read(vtkXMLImageDataReader(), name)
    n = (20, 24, 18 if dim == 3 else 1)
    h = 0.05
    check(d.GetExtent() == (0, 20, 0, 24, 0, 18 if dim == 3 else 0), name + " extent")
    check(d.GetOrigin() == (0, 0, 0) and d.GetSpacing() == (h, h, h), name + " place")
    k, j, i = np.meshgrid(np.arange(n[2]), np.arange(n[1]), np.arange(n[0]), indexing="ij")
    x, y = (i + 0.5) * h, (j + 0.5) * h
    z = (k + 0.5) * h if dim == 3 else 0 * x
    # the centre of a cell as VTK sees it
    cell = d.GetCell(5 + 20 * 7 + (20 * 24 * 11 if dim == 3 else 0))
    b = cell.GetBounds()
    same([(b[0] + b[1]) / 2, (b[2] + b[3]) / 2], [5.5 * h, 7.5 * h], name + " cell centre")

    def u(x, y):
        return np.sin(math.pi * x) * np.cos(math.pi * y)

    def v(x, y):
        return -np.cos(math.pi * x) * np.sin(math.pi * y)

    expected = np.stack([(u(x - h / 2, y) + u(x + h / 2, y)) / 2,
                         (v(x, y - h / 2) + v(x, y + h / 2)) / 2,
                         0.25 * x - 0.5 * z if dim == 3 else 0 * x], axis=-1).reshape(-1, 3)
    velocity = array(d.GetCellData(), "velocity")
    same(velocity, expected, name + " velocity", 1e-6)
    same(array(d.GetCellData(), "speed"), np.linalg.norm(expected, axis=1), name + " speed", 1e-6)
    pressure = (3 * x - 2 * y + 5 * z - 0.4).ravel()
    written = array(d.GetCellData(), "pressure")
    same(written, pressure, name + " pressure", 1e-6)
    check(written.dtype == np.float32, name + " is in single precision")
    if dim == 3:
        liquid = y - 0.5 - 0.05 * np.sin(8 * x) * np.cos(6 * z)
        same(array(d.GetCellData(), "liquid"), liquid.ravel(), name + " liquid", 1e-6)
        check(d.GetCellData().GetArray("smoke") is None, name + " has no smoke")
    else:
        check(array(d.GetCellData(), "smoke").max() > 0.9, name + " smoke")


def solids(dim):
    d = read(vtkXMLPolyDataReader(), f"frames{dim}/solids_000003.vtp")
    x = vtk_to_numpy(d.GetPoints().GetData())
    centre = np.array([0.62, 0.72, 0.5 if dim == 3 else 0])
    error = np.abs(np.linalg.norm(x - centre, axis=1) - 0.17).max()
    check(error < 6e-3, f"solids {dim}: distance of the points to the ball, {error:.2e}")
    check(d.GetNumberOfLines() > 0 if dim == 2 else d.GetNumberOfPolys() > 0, "solids: cells")
    normals = vtk_to_numpy(d.GetPointData().GetNormals())
    turn = np.sum(normals * (x - centre) / 0.17, axis=1).min()
    check(turn > 0.95, f"solids {dim}: normals point into the fluid, {turn:.3f}")


def collection(dim):
    path = os.path.join(folder, f"frames{dim}")
    root = ET.parse(os.path.join(path, "frames.pvd")).getroot()
    items = [(float(e.get("timestep")), e.get("part"), e.get("file"))
             for e in root.iter("DataSet")]
    kinds = [("0", "grid", "vti"), ("1", "solids", "vtp")] + ([("2", "liquid", "vtp")] if dim == 3 else [])
    wanted = [(t, part, f"{kind}_{n:06d}.{ending}") for n, t in ((0, 0.0), (3, 3 * 0.1))
              for part, kind, ending in kinds]
    check(items == wanted, f"frames{dim}/frames.pvd {items}")
    check(all(os.path.exists(os.path.join(path, f)) for _, _, f in items), "its files exist")


images()
poly()
grid()
for dim in (2, 3):
    frame(dim)
    solids(dim)
    collection(dim)
empty = read(vtkXMLPolyDataReader(), "empty/solids_000000.vtp")
check(empty.GetNumberOfPoints() == 0, "an empty surface is a file too")
# negative control: the comparison sees one wrong value
before = failures
wrong = sample(100, 1).copy()
wrong[57] += 1e-6
same(wrong, sample(100, 1), "negative control")
failures = before if failures == before + 1 else before + 1
sys.exit(1 if failures else 0)
