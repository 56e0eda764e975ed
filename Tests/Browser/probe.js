// Checks the layout and the colors of the page, and returns a list of failures.
//
// `minimums` has the minimum number of elements of some kinds, so that an empty page does not pass.
(minimums) => {
  const failures = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const name = (element) => {
    const text = element.textContent.trim().replace(/\s+/gu, ' ');
    return `<${element.localName}${element.className ? ` class="${element.className.baseVal ?? element.className}"` : ''}> “${text.slice(0, 40)}”`;
  };
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });

  // Color contrast according to WCAG 2.2.

  // Computed styles use rgb(), rgba() and color(srgb …).
  const components = (color) => {
    const numbers = color.match(/[\d.]+(e-?\d+)?/gu).map(Number);
    const scale = color.startsWith('color(srgb') ? 1 : 255;
    return { rgb: numbers.slice(0, 3).map((value) => value / scale), alpha: numbers[3] ?? 1 };
  };
  const over = (top, ground) => top.rgb.map((value, index) => value * top.alpha + ground[index] * (1 - top.alpha));
  const ground = (element) => {
    const layers = [];
    for (let current = element; current; current = current.parentElement) {
      const layer = components(getComputedStyle(current).backgroundColor);
      if (layer.alpha > 0) layers.push(layer);
      if (layer.alpha === 1) break;
    }
    return layers.reduceRight((below, layer) => over(layer, below), [1, 1, 1]);
  };
  const luminance = (rgb) => {
    const [red, green, blue] = rgb.map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (element) => {
    const below = ground(element);
    const levels = [luminance(over(components(getComputedStyle(element).color), below)), luminance(below)];
    return (Math.max(...levels) + 0.05) / (Math.min(...levels) + 0.05);
  };

  const readable = (element, what) => {
    const ratio = contrast(element);
    if (ratio < 4.5) failures.push(`${what} has a contrast of ${ratio.toFixed(2)}, less than 4.5: ${name(element)}`);
  };
  // The border of a field must be distinguishable from its surroundings and from the field (WCAG 2.2, 1.4.11).
  for (const field of all('input:not([type=checkbox], [type=radio], [type=color], [type=file], [type=hidden]), select, textarea').filter(isShown)) {
    const border = components(getComputedStyle(field).borderTopColor);
    for (const below of [ground(field.parentElement), ground(field)]) {
      const levels = [luminance(over(border, below)), luminance(below)];
      const ratio = (Math.max(...levels) + 0.05) / (Math.min(...levels) + 0.05);
      if (ratio < 3) failures.push(`the border of a field has a contrast of ${ratio.toFixed(2)}, less than 3: ${field.localName} ${field.name}`);
    }
  }

  const chips = all('.chip').filter(isShown);
  for (const chip of chips) {
    if (components(getComputedStyle(chip).backgroundColor).alpha < 1) failures.push(`a chip has no color: ${name(chip)}`);
    readable(chip.querySelector('bdi'), 'a chip');
  }
  const texts = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() && !element.closest('svg, .visually-hidden') && isShown(element)) texts.add(element);
  }
  for (const element of texts) readable(element, 'text');

  // Elements must not overflow the window, unless an ancestor scrolls or truncates them with an ellipsis.
  const isCut = (element) => {
    for (let current = element.parentElement; current !== document.body; current = current.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(current);
      if (['auto', 'scroll'].includes(overflowX) || (overflowX === 'hidden' && textOverflow === 'ellipsis')) return true;
    }
    return false;
  };
  const width = document.documentElement.clientWidth;
  const scrolled = document.documentElement.scrollWidth;
  if (scrolled > width) failures.push(`the page is ${scrolled} px wide in a window of ${width} px`);
  for (const element of all('body *')) {
    const box = element.getBoundingClientRect();
    const overflows = box.width > 0 && (box.right > width + 1 || box.left < -1);
    if (overflows && !element.closest('svg, .visually-hidden') && isShown(element) && !isCut(element)) {
      failures.push(`extends from ${Math.round(box.left)} to ${Math.round(box.right)} px in a window of ${width} px: ${name(element)}`);
    }
  }

  // The points of a map must be inside the map.
  const dots = all('.map .dot');
  for (const dot of dots) {
    const map = dot.ownerSVGElement.getBoundingClientRect();
    const point = dot.getPointAtLength(0).matrixTransform(dot.getScreenCTM());
    if (!(point.x >= map.left && point.x <= map.right && point.y >= map.top && point.y <= map.bottom)) {
      failures.push(`a point is outside the map: ${dot.getAttribute('d')}`);
    }
  }
  for (const number of all('.map .cluster-count')) {
    const box = number.getBoundingClientRect();
    const marker = parseFloat(getComputedStyle(number.parentElement.querySelector('.dot')).strokeWidth);
    if (Math.max(box.width, box.height) > marker * 1.25) {
      failures.push(`the number ${number.textContent} is ${Math.round(box.width)} × ${Math.round(box.height)} px, its marker ${marker} px`);
    }
  }
  for (const map of all('.map svg')) {
    if (map.getBoundingClientRect().height < 100) failures.push('a map is less than 100 px high');
  }

  // The text direction of each value is that of its first letter.
  const rightToLeft = all('bdi').filter((element) => {
    const letter = element.textContent.match(/\p{L}/u)?.[0] ?? '';
    const isRightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}]/u.test(letter);
    if (letter && !element.dir && isRightToLeft !== (getComputedStyle(element).direction === 'rtl')) {
      failures.push(`wrong text direction: ${name(element)}`);
    }
    return isRightToLeft;
  });

  const headings = all('h1').filter(isShown);
  if (headings.length !== 1) failures.push(`the page has ${headings.length} level-one headings instead of one`);
  if (document.styleSheets.length === 0) failures.push('the page has no style sheet');
  for (const image of all('img')) {
    if (!image.complete || image.naturalWidth === 0) failures.push(`an image is missing: ${image.src}`);
  }
  if (all('button.copy[hidden]').length > 0) failures.push('the script has not run: the copy buttons are hidden');

  const found = {
    answers: all('.answer').filter(isShown).length, chips: chips.length, dots: dots.length, rightToLeft: rightToLeft.length, texts: texts.size,
  };
  for (const [what, number] of Object.entries({ texts: 5, ...minimums, large: 0 })) {
    if (found[what] < number) failures.push(`expected at least ${number} ${what}, found ${found[what]}`);
  }
  return failures;
}
