"""What is seen before it is read: one file for each kind of picture.

A picture is a block of a report that draws itself (`Picture.draw`, in SVG), prints itself in block
characters, describes itself for those who do not see it, and plots itself with matplotlib.
`drawing` has the shapes and colours that hold on light and dark pages, `scales` the ticks.
"""

from ipyjaxbench.reports.pictures.axes import Axis, Mark, Series
from ipyjaxbench.reports.pictures.bars import Bar, Bars
from ipyjaxbench.reports.pictures.chart import Chart
from ipyjaxbench.reports.pictures.distribution import Distribution
from ipyjaxbench.reports.pictures.flows import Flow, Flows
from ipyjaxbench.reports.pictures.picture import Picture
from ipyjaxbench.reports.pictures.stack import Segment, Stack
from ipyjaxbench.reports.pictures.tiles import Panel, Tiles
