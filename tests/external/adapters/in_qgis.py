"""QGIS without a screen against the adapter `ogc`: it opens, counts, filters and draws every dataset with geometry.

Run by hand, with YEARBOOK_KEY, by the Python that Debian's `python3-qgis` is for (QGIS 3.22), which is too large for each run of tests:

    /usr/bin/python3 in_qgis.py --base http://127.0.0.1:8000 --pictures FOLDER

The key goes by Basic: 3.22 has no method for a header of another name.
"""

import argparse
import csv
import io
import json
import os
import pathlib
import random
import sys
import urllib.parse
import urllib.request

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from qgis.core import (  # noqa: E402 - the platform is chosen before
    QgsApplication,
    QgsCoordinateReferenceSystem,
    QgsFeatureRequest,
    QgsMapRendererParallelJob,
    QgsMapSettings,
    QgsRectangle,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QSize  # noqa: E402
from qgis.PyQt.QtGui import QColor  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "common"))
from tally import Tally  # noqa: E402

SEED = 20261127
SIDE = 600


class Service:
    def __init__(self, base, key):
        self.base, self.key = base, key

    def get(self, path, **query):
        address = f"{self.base}{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(urllib.request.Request(address, headers={"X-API-Key": self.key})) as answer:
            return answer.read().decode()

    def rows(self, name, **query):
        text = self.get(f"/v1/datasets/{name}/data", format="csv", limit=20_000, geometry="false", **query)
        return list(csv.DictReader(io.StringIO(text)))

    def layer(self, name):
        place = f"url='{self.base}/api/ogc' typename='{name}' username='key' password='{self.key}'"
        found = QgsVectorLayer(f"{place} pagingEnabled='true' pageSize='5000' restrictToRequestBBOX='1'", name, "OAPIF")
        assert found.isValid(), found.error().message()
        return found


def counted(service, name):
    """Features that are read, each with a shape that QGIS understands where it has one."""
    layer = service.layer(name)
    features = list(layer.getFeatures())
    wanted = len(service.rows(name))
    assert len(features) == wanted, f"{len(features)} of {wanted}"
    assert layer.featureCount() == wanted, layer.featureCount()
    assert layer.crs().authid() in ("EPSG:4326", "OGC:CRS84"), layer.crs().authid()
    assert not any(feature.hasGeometry() and feature.geometry().isEmpty() for feature in features)
    return True


def filtered(service, name):
    """A box, whose edges QGIS asks of the service, and a value of a text column."""
    layer, chance = service.layer(name), random.Random(f"{SEED} {name}")
    extent = layer.extent()
    for _ in range(3):
        wide, high = extent.width() * chance.uniform(0.1, 0.5), extent.height() * chance.uniform(0.1, 0.5)
        west = extent.xMinimum() + chance.uniform(0, extent.width() - wide)
        south = extent.yMinimum() + chance.uniform(0, extent.height() - high)
        box = QgsRectangle(west, south, west + wide, south + high)
        request = QgsFeatureRequest().setFilterRect(box).setFlags(QgsFeatureRequest.ExactIntersect)
        # Of a layer that has read another box it gives some features twice, whosever service it is.
        found = sum(1 for _ in service.layer(name).getFeatures(request))
        wanted = len(service.rows(name, bbox=",".join(map(repr, (west, south, west + wide, south + high)))))
        assert found == wanted, f"{box.toString()}: {found} of {wanted}"
    rows = service.rows(name)
    # A column of numbers where there is none of text, for which QGIS takes no text that looks like a time.
    kinds = {field.name(): field.typeName() for field in layer.fields()}
    texts = [name for name, value in rows[0].items() if value and kinds[name] == "String"]
    column = [*texts, *rows[0]][0]
    value = chance.choice([row[column] for row in rows if row[column]])
    literal = "'{}'".format(value.replace("'", "''")) if texts else value
    assert layer.setSubsetString(f'"{column}" = {literal}'), f"{column} = {value!r} is refused"
    found, wanted = sum(1 for _ in layer.getFeatures()), sum(row[column] == value for row in rows)
    assert found == wanted, f"{column} = {value!r}: {found} of {wanted}"
    return True


def drawn(service, name, folder):
    """A picture, of which a part is painted."""
    layer = service.layer(name)
    settings = QgsMapSettings()
    settings.setLayers([layer])
    settings.setDestinationCrs(QgsCoordinateReferenceSystem("EPSG:4326"))
    settings.setBackgroundColor(QColor("white"))
    settings.setOutputSize(QSize(SIDE, SIDE))
    extent = layer.extent()
    extent.scale(1.05)
    settings.setExtent(extent)
    job = QgsMapRendererParallelJob(settings)
    job.start()
    job.waitForFinished()
    assert not job.errors(), [error.message for error in job.errors()]
    picture = job.renderedImage()
    assert picture.save(str(folder / f"{name}.png"))
    white = QColor("white").rgb()
    painted = sum(picture.pixel(x, y) != white for x in range(0, SIDE, 3) for y in range(0, SIDE, 3))
    assert painted > 20, f"{painted} of {(SIDE // 3) ** 2} points are painted"
    return True


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--base", required=True, help="address of the server")
    arguments.add_argument("--pictures", required=True, type=pathlib.Path, help="folder for what is drawn")
    given = arguments.parse_args()
    given.pictures.mkdir(parents=True, exist_ok=True)
    QgsApplication.setPrefixPath("/usr", True)
    application = QgsApplication([], False)
    application.initQgis()
    service, tally = Service(given.base, os.environ["YEARBOOK_KEY"]), Tally("qgis")
    listed = json.loads(service.get("/api/ogc/collections", f="json"))["collections"]
    for name in (about["id"] for about in listed if about.get("itemType") != "record"):
        tally.check(f"{name} counted", lambda: counted(service, name))
        tally.check(f"{name} filtered", lambda: filtered(service, name))
        tally.check(f"{name} drawn", lambda: drawn(service, name, given.pictures))
    status = tally.end()
    application.exitQgis()
    return status


if __name__ == "__main__":
    sys.exit(main())
