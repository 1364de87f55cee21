// What people see of the reports in a page, measured.
(() => {
  const CARDS = '.jp-OutputArea-output.jp-RenderedHTMLCommon, .jp-OutputArea-output .jp-RenderedHTMLCommon';

  const parts = (colour) => {
    const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const luminance = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((c) => c / 255).map((c) =>
      c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
  };

  // Of a text against what is painted behind it; opacity of all that it is in makes it fainter.
  const of_text = (element) => {
    const chain = [];
    for (let each = element; each; each = each.parentElement) chain.unshift(getComputedStyle(each));
    const behind = chain.reduce((below, style) => over(parts(style.backgroundColor), below), [255, 255, 255, 1]);
    const own = getComputedStyle(element);
    const colour = parts(element instanceof SVGElement ? own.fill : own.color);
    colour[3] *= chain.reduce((all, style) => all * Number(style.opacity), 1);
    return contrast(over(colour, behind), behind);
  };

  // Tags with their attributes, styles as the browser reads them.
  const tree = (element) => [
    element.tagName,
    [...element.attributes].filter((a) => a.name !== 'style').map((a) => `${a.name}=${a.value}`).sort(),
    element.style.cssText,
    [...element.childNodes].filter((n) => n.nodeType === 1).map(tree),
    [...element.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join('|').trim(),
  ];

  // The first place in which two trees differ; empty where they are the same.
  const difference = (a, b) => {
    if (!Array.isArray(a) || !Array.isArray(b)) return a === b ? '' : `${a} instead of ${b}`;
    if (a.length !== b.length) return `${JSON.stringify(a)} instead of ${JSON.stringify(b)}`;
    return a.map((each, number) => difference(each, b[number])).find((found) => found) ?? '';
  };

  const texts = (card, besides = 'template') => {
    const found = [];
    const walker = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode.data.trim();
      const element = walker.currentNode.parentElement;
      if (text && !element.closest(besides) && element.checkVisibility()) found.push([text, of_text(element)]);
    }
    return found;
  };

  const images = (card) => [...card.querySelectorAll('img')].map((image) => (
    { alt: image.getAttribute('alt'), wide: image.naturalWidth, shown: image.getBoundingClientRect().width }));

  // Names in tables that lie over their neighbours.
  const overlaps = (card) => [...card.querySelectorAll('th, td')].filter((cell) =>
    cell.checkVisibility() && cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent);

  return {
    texts: (besides) => texts(document.body, besides),
    cards: () => [...document.querySelectorAll(CARDS)].map((card) => ({
      text: card.innerText, texts: texts(card), images: images(card), overlaps: overlaps(card),
      wide: card.scrollWidth - card.clientWidth, scrolls: getComputedStyle(card).overflowX !== 'visible',
      top: card.getBoundingClientRect().top,
    })),
    trusted: () => {
      const cells = window.jupyterapp.shell.currentWidget.content.widgets.map((cell) => cell.model);
      return cells.filter((cell) => cell.type === 'code').every((cell) => cell.trusted);
    },
    changed: (sources) => [...document.querySelectorAll(CARDS)].map((card, number) => {
      const parsed = new DOMParser().parseFromString(sources[number], 'text/html').body;
      return difference([...card.children].map(tree), [...parsed.children].map(tree));
    }),
  };
})()
