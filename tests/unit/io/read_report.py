"""Checks that a report is well-formed and self-contained."""
import base64
import re
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

VOID = {"meta", "img", "br", "hr", "link", "input"}


class Balance(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.problems, self.pictures, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        for name in ("src", "href"):
            if name in values and not values[name].startswith("data:"):
                self.problems.append(f"{tag} loads {values[name]}")
        if tag == "img":
            self.pictures.append(values["src"])
        if tag == "script":
            self.problems.append("a script")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        self.text.append(data)


def problems(page):
    b = Balance()
    b.feed(page)
    b.close()
    found = list(b.problems)
    if b.open:
        found.append(f"never closed: {b.open}")
    for svg in re.findall(r"<svg .*?</svg>", page, re.S):
        try:
            ET.fromstring(svg)
        except ET.ParseError as error:
            found.append(f"SVG: {error}")
    for picture in b.pictures:
        head, data = picture.split(",", 1)
        if head != "data:image/png;base64" or base64.b64decode(data)[:8] != b"\x89PNG\r\n\x1a\n":
            found.append("a picture is no PNG")
    return found, b


page = open(sys.argv[1], encoding="utf-8").read()
found, b = problems(page)
words = "".join(b.text)
if 'A <b>bold</b> title & "quotes"' not in words:
    found.append("the title was changed by escaping")
if len(re.findall(r"<svg ", page)) < 5:
    found.append("too few plots")
if not b.pictures:
    found.append("no pictures")
# negative controls: the checks see an unclosed tag, a bad SVG and a bad picture
for broken in (page.replace("</table>", "", 1), page.replace("</title>\n<line", "<line", 1),
               page.replace("base64,iVBOR", "base64,aVBOR", 1)):
    if broken == page or not problems(broken)[0]:
        found.append("a negative control passed")
print("\n".join(found) or "ok")
sys.exit(1 if found else 0)
