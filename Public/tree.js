// The tree of collections in the side list: loads the subcollections of a node in place, and filters by name. Without this script a
// node has a link to the page that lists its subcollections, and the filter shows a page of results.
'use strict';

{
  const tree = document.querySelector('ul.tree');
  const filter = document.querySelector('.side-list form input');

  const bdi = (text) => {
    const element = document.createElement('bdi');
    element.lang = '';
    element.textContent = text;
    return element;
  };
  const loader = (url, text) => {
    const paragraph = document.createElement('p');
    const link = document.createElement('a');
    paragraph.className = 'more';
    link.className = 'load';
    link.href = url;
    link.textContent = text;
    paragraph.append(link);
    return paragraph;
  };
  const node = ({ labels, title, url, below }, text) => {
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.href = url;
    labels.forEach((label, index) => link.append(...(index > 0 ? [' / '] : []), bdi(label)));
    const details = document.createElement('details');
    const summary = document.createElement('summary');
    summary.setAttribute('aria-label', title);
    details.append(summary, loader(below, text));
    item.append(link, details);
    return item;
  };

  // Replaces the link of a node with what it leads to.
  const load = async (link) => {
    const details = link.closest('details');
    const url = new URL(link.href);
    url.searchParams.set('suggest', '1');
    const response = await fetch(url);
    if (!link.isConnected) return;
    // A session may have ended: the page then asks to sign in.
    if (!response.ok) {
      location.assign(link.href);
      return;
    }
    const { nodes, next, more, list, note } = await response.json();
    let children = details.querySelector(':scope > ul');
    if (!children) {
      children = document.createElement('ul');
      details.append(children);
    }
    const known = new Set([...children.querySelectorAll(':scope > li > a')].map((known) => known.href));
    children.append(...nodes.map((found) => node(found, list)).filter((item) => !known.has(item.firstChild.href)));
    const hadFocus = document.activeElement === link;
    const paragraph = link.parentElement;
    paragraph.remove();
    if (next) {
      details.append(loader(next, more));
    } else if (children.children.length === 0) {
      children.remove();
      paragraph.textContent = note;
      details.append(paragraph);
    }
    if (hadFocus) (details.querySelector(':scope > ul > li > a') ?? details.querySelector('summary')).focus();
  };

  if (tree) {
    // `toggle` doesn't bubble.
    tree.addEventListener('toggle', ({ target }) => {
      const link = target.querySelector(':scope > p > a.load');
      if (target.open && link && !target.querySelector(':scope > ul')) load(link);
    }, true);
    tree.addEventListener('click', (event) => {
      const link = event.target.closest('a.load');
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      load(link);
    });
    filter.addEventListener('input', () => {
      const text = filter.value.trim().toLowerCase();
      const matches = (item) => {
        const inside = [...item.querySelectorAll(':scope > details > ul > li')].map(matches).includes(true);
        const found = inside || (item.querySelector(':scope > a')?.textContent ?? '').toLowerCase().includes(text);
        item.hidden = !found;
        return found;
      };
      for (const item of tree.children) matches(item);
    });
  }
}
