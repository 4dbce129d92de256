"""A sheet of LibreOffice Calc that is linked to an address, by Debian's Python: no other has LibreOffice's `uno`.

`calc.py link FILE ADDRESS` does what *Sheet, External Links* does and saves the document; `calc.py open FILE` opens it as a person
does who trusts its folder and has links updated when documents are opened. Prints the cells as JSON."""

import json
import pathlib
import subprocess
import sys
import tempfile

import uno
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException
from com.sun.star.table import CellAddress
from waiting import until

# Commas, quotes, UTF-8, from the first line on, all columns as they look, in English, quoted cells are text, numbers are recognised.
CSV = ("CSV_all", "Text - txt - csv (StarCalc)", "44,34,76,1,,1033,true,true")
# *Trusted Sources* and *Update links when opening: Always*.
OPTIONS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="SecureURL" oor:op="fuse"><value><it>%s</it></value></prop></item>
<item oor:path="/org.openoffice.Office.Calc/Content/Update"><prop oor:name="Link" oor:op="fuse"><value>0</value></prop></item>
</oor:items>"""
# As the options say.
ACCORDING_TO_CONFIG = 2


class Office:
    """A LibreOffice without a window, which knows nothing of an earlier one but that it trusts a folder."""

    def __init__(self, folder, trusted):
        user = pathlib.Path(folder, "user")
        user.mkdir()
        (user / "registrymodifications.xcu").write_text(OPTIONS % trusted.as_uri())
        pipe = f"pipe,name={pathlib.Path(folder).name};urp;"
        options = ["--headless", "--norestore", "--nologo", f"-env:UserInstallation=file://{folder}", f"--accept={pipe}"]
        self.process = subprocess.Popen(["soffice", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        here = uno.getComponentContext()
        resolver = here.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", here)

        def connected():
            try:
                return resolver.resolve(f"uno:{pipe}StarOffice.ComponentContext")
            except NoConnectException:
                return None

        context = until(connected, "LibreOffice takes connections")
        self.desktop = context.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", context)

    def open(self, address):
        hidden, update = PropertyValue(), PropertyValue()
        hidden.Name, hidden.Value = "Hidden", True
        update.Name, update.Value = "UpdateDocMode", ACCORDING_TO_CONFIG
        return self.desktop.loadComponentFromURL(address, "_blank", 0, (hidden, update))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.desktop.terminate()
        self.process.wait(timeout=60)


def cells(document):
    """What the sheet holds, numbers as numbers."""
    sheet = document.Sheets.getByIndex(0)
    cursor = sheet.createCursor()
    cursor.gotoEndOfUsedArea(False)
    return sheet.getCellRangeByPosition(0, 0, cursor.RangeAddress.EndColumn, cursor.RangeAddress.EndRow).DataArray


def main():
    verb, file, *address = sys.argv[1:]
    path = pathlib.Path(file)
    with tempfile.TemporaryDirectory() as folder, Office(folder, path.parent) as office:
        if verb == "link":
            document = office.open("private:factory/scalc")
            document.AreaLinks.insertAtPosition(CellAddress(), *address, *CSV)
            document.storeToURL(path.as_uri(), ())
        else:
            document = office.open(path.as_uri())
        print(json.dumps(cells(document)))
        document.close(True)


if __name__ == "__main__":
    main()
