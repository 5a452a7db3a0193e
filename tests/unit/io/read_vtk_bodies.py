"""Reads the .vtu files of bodies with VTK and compares them with what the scenes of test_vtk_bodies.sh
hold: kinds of cells, connectivity by the sizes VTK itself computes, points, velocities, arrays."""
import math
import os
import sys

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkCommand
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

folder = sys.argv[1]
failures = 0
LINE, TRIANGLE, TETRA, QUADRATIC_TRIANGLE, QUADRATIC_TETRA = 3, 5, 10, 22, 24


def check(good, what):
    global failures
    print("ok   " if good else "FAIL ", what)
    failures += not good


def near(value, wanted, tolerance, what):
    check(abs(value - wanted) <= tolerance, f"{what}: {value:.12g}, expected {wanted:.12g}")


class Frame:
    def __init__(self, name):
        errors = []
        reader = vtkXMLUnstructuredGridReader()
        reader.AddObserver(vtkCommand.ErrorEvent, lambda *a: errors.append(a))
        reader.SetFileName(os.path.join(folder, name))
        reader.Update()
        check(not errors, name + " is read without error")
        self.grid = grid = reader.GetOutput()
        self.x = vtk_to_numpy(grid.GetPoints().GetData())
        check(self.x.dtype == np.float64, name + ": points in double precision")
        self.type = np.array([grid.GetCellType(i) for i in range(grid.GetNumberOfCells())])
        cells, points = grid.GetCellData(), grid.GetPointData()
        check([cells.GetArrayName(i) for i in range(cells.GetNumberOfArrays())]
              == ["body", "stress", "tension", "volume_ratio"], name + ": arrays of cells")
        check([points.GetArrayName(i) for i in range(points.GetNumberOfArrays())] == ["velocity"],
              name + ": arrays of points")
        self.body = vtk_to_numpy(cells.GetArray("body"))
        self.stress = vtk_to_numpy(cells.GetArray("stress"))
        self.tension = vtk_to_numpy(cells.GetArray("tension"))
        self.ratio = vtk_to_numpy(cells.GetArray("volume_ratio"))
        self.v = vtk_to_numpy(points.GetArray("velocity"))
        self.time = vtk_to_numpy(grid.GetFieldData().GetArray("TimeValue"))[0]
        size = vtkCellSizeFilter()
        size.SetInputData(grid)
        size.Update()
        data = size.GetOutput().GetCellData()
        self.size = {1: vtk_to_numpy(data.GetArray("Length")), 2: vtk_to_numpy(data.GetArray("Area")),
                     3: vtk_to_numpy(data.GetArray("Volume"))}

    def nodes(self, body):
        ids = set()
        for i in np.flatnonzero(self.body == body):
            cell = self.grid.GetCell(int(i))
            ids.update(cell.GetPointId(k) for k in range(cell.GetNumberOfPoints()))
        return np.array(sorted(ids))

    def examine(self, body, name, kind, count, dimension, size, tolerance=1e-12):
        mine = self.body == body
        check(set(self.type[mine]) == {kind}, f"{name}: kind of cells {set(self.type[mine])}")
        check(mine.sum() == count, f"{name}: {mine.sum()} cells, expected {count}")
        near(self.size[dimension][mine].sum(), size, tolerance, f"{name}: size by VTK")
        check(np.all(self.size[dimension][mine] > 0), f"{name}: no cell is flat")


def middles(frame, body, pairs, name):
    """Nodes of quadratic cells at rest: in the middle of the edges that VTK expects them on."""
    most = 0
    for i in np.flatnonzero(frame.body == body):
        cell = frame.grid.GetCell(int(i))
        p = [frame.x[cell.GetPointId(k)] for k in range(cell.GetNumberOfPoints())]
        corners = 3 if len(pairs) == 3 else 4
        for k, (a, b) in enumerate(pairs):
            most = max(most, np.abs(p[corners + k] - (p[a] + p[b]) / 2).max())
    check(most < 1e-14, f"{name}: middles of edges where VTK has them, {most:.1e}")


def flat():
    f = Frame("flat/frames/bodies_000000.vtu")
    # 8 x 2 squares of two triangles, a disk of 2 rings (as wide as a cell, 1/4), 8 segments
    f.examine(0, "bar", QUADRATIC_TRIANGLE, 32, 2, 1.0)
    f.examine(1, "disk", TRIANGLE, 24, 2, 12 * math.sin(math.pi / 6) * 0.25 / 2)
    f.examine(2, "wire", LINE, 8, 1, 1.0)
    check(len(f.x) == 17 * 5 + 19 + 9, f"flat: {len(f.x)} points")
    middles(f, 0, ((0, 1), (1, 2), (2, 0)), "bar")
    check(np.all(f.x[:, 2] == 0), "flat: z is 0")
    later = Frame("flat/frames/bodies_000001.vtu")
    near(later.time, 0.1, 1e-15, "flat: time")
    bar, disk = f.nodes(0), f.nodes(1)
    moved = later.x[bar] - f.x[bar] - [0.05, 0.025, 0]
    check(np.abs(moved).max() < 1e-12, "bar: moved by its velocity")
    check(np.abs(later.v[bar] - [0.5, 0.25, 0]).max() < 1e-12, "bar: velocity")
    arm = later.x[disk] - [3.2, 1, 0]
    spin = np.stack([-2 * arm[:, 1], 2 * arm[:, 0], 0 * arm[:, 0]], axis=1)
    check(np.abs(later.v[disk] - spin).max() < 1e-12, "disk: velocity of its spin")
    start = f.x[disk] - [3.2, 1, 0]
    c, s = math.cos(0.2), math.sin(0.2)
    turned = np.stack([c * start[:, 0] - s * start[:, 1], s * start[:, 0] + c * start[:, 1],
                       0 * start[:, 0]], axis=1)
    check(np.abs(turned - arm).max() < 1e-12, "disk: turned by 0.2")
    check(np.abs(later.stress).max() < 1e-5, "flat: no stress without strain")


def solid():
    f = Frame("solid/frames/bodies_000000.vtu")
    f.examine(0, "ball", TETRA, 160, 3, 0.457339026064, 1e-11)
    f.examine(1, "box", TRIANGLE, 2 * 2 * (4 * 2 + 2 * 6 + 4 * 6), 2, 2 * (0.5 + 0.75 + 1.5))
    f.examine(2, "cloth", TRIANGLE, 32, 2, 1.0)
    f.examine(3, "wire", LINE, 8, 1, 1.0)
    mine = f.body == 4
    check(set(f.type[mine]) == {QUADRATIC_TETRA} and mine.sum() == 6 * 16,
          "brick: kind and number of cells")
    middles(f, 4, ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)), "brick")
    ball = f.nodes(0)
    later = Frame("solid/frames/bodies_000001.vtu")
    check(np.abs(later.x[ball] - f.x[ball] - [0, 0.05, 0]).max() < 1e-10, "ball: moved")
    check(np.abs(f.ratio - 1).max() < 1e-14, "solid: volume ratio 1 at rest")
    surface = f.nodes(1)
    inside = (f.x[surface] >= [2, 2, 2]).all() and (f.x[surface] <= [3, 2.5, 3.5]).all()
    check(inside and len(surface) == 5 * 3 * 7 - 3 * 1 * 5, f"box: {len(surface)} nodes of its surface, sharp")


def cantilever():
    """The volume ratio and the stress are those of the deformed cells: VTK's areas over those at rest."""
    a = Frame("bent/frames/bodies_000000.vtu")
    b = Frame("bent/frames/bodies_000001.vtu")
    areas = b.size[2] / a.size[2]
    error = np.abs(areas - b.ratio).max()
    spread = np.abs(b.ratio - 1).max()
    check(spread > 1e-3, f"bent: volume ratios differ from 1 by {spread:.2e}")
    check(error < 1e-12, f"bent: volume ratio is that of VTK's areas, {error:.1e}")
    check(b.stress.max() > 100 * abs(a.stress).max() + 1, f"bent: stress up to {b.stress.max():.3g} Pa")
    return a, b


def drawn():
    """Tension of rods and springs from the lengths of the cells' sides, stress of shells alone."""
    a = Frame("drawn/frames/bodies_000000.vtu")
    b = Frame("drawn/frames/bodies_000001.vtu")
    most, worst = 0, 0
    for i in range(len(b.body)):
        cell = b.grid.GetCell(int(i))
        n = cell.GetNumberOfPoints()
        p = [cell.GetPointId(k) for k in range(n)]
        sides = [(p[k], p[(k + 1) % n]) for k in range(n if n == 3 else 1)]
        length = [[np.linalg.norm(f.x[s] - f.x[t]) for s, t in sides] for f in (a, b)]
        if b.body[i] == 0:
            wanted = 40 * (length[1][0] / length[0][0] - 1)
        elif b.body[i] == 1:
            wanted = 60 * np.mean(np.subtract(length[1], length[0]))
        else:
            wanted = 0
        most, worst = max(most, abs(wanted)), max(worst, abs(wanted - b.tension[i]))
    check(worst < 1e-10 and most > 0.1, f"drawn: tension up to {most:.3g} N, off by {worst:.1e}")
    check(np.abs(a.tension).max() < 1e-10, "drawn: none at rest")
    check(np.all(b.stress[b.body < 2] == 0), "drawn: springs and rods have no stress")
    top = b.stress[b.body == 2].max()
    check(100 < top < 1e5, f"drawn: stress of the shell up to {top:.3g} Pa")


flat()
solid()
drawn()
a, b = cantilever()
# negative control: the comparison of areas sees cells in a wrong order
before = failures
check(np.abs((b.size[2] / a.size[2])[::-1] - b.ratio).max() < 1e-12, "negative control")
failures = before if failures == before + 1 else before + 1
sys.exit(1 if failures else 0)
