"""Water surfaces of a run, read with VTK: closed (every edge has two triangles that agree about its
direction) and of the Euler characteristic expected. closed_surface.py FILE [CHARACTERISTIC]"""
import sys
from collections import Counter

from vtkmodules.vtkIOXML import vtkXMLPolyDataReader
from vtkmodules.vtkCommonCore import vtkCommand

errors = []
reader = vtkXMLPolyDataReader()
reader.AddObserver(vtkCommand.ErrorEvent, lambda *a: errors.append(a))
reader.SetFileName(sys.argv[1])
reader.Update()
mesh = reader.GetOutput()
if errors or not mesh.GetNumberOfPolys():
    sys.exit(f"{sys.argv[1]}: VTK reads {mesh.GetNumberOfPolys()} triangles, {len(errors)} errors")
edges, used = Counter(), set()
for t in range(mesh.GetNumberOfCells()):
    cell = mesh.GetCell(t)
    corner = [cell.GetPointId(i) for i in range(cell.GetNumberOfPoints())]
    used.update(corner)
    edges.update(zip(corner, corner[1:] + corner[:1]))
loose = [e for e in edges if edges[e] != 1 or edges[e[1], e[0]] != 1]
characteristic = len(used) - len(edges) // 2 + mesh.GetNumberOfCells()
print(f"{len(used)} points, {mesh.GetNumberOfCells()} triangles, Euler characteristic "
      f"{characteristic}, {len(loose)} loose edges")
if loose or (len(sys.argv) > 2 and characteristic != int(sys.argv[2])):
    sys.exit(f"FAIL {sys.argv[1]}")
