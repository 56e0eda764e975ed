// Updates the part of a page that shows the state of the server, every few seconds. Without this script, a reload does.
'use strict';

(() => {
  const part = document.querySelector('[data-refreshes]');
  const status = document.getElementById('refresh-status');
  if (!part || !status) return;
  const policy = window.trustedTypes?.createPolicy('hearth-refresh', { createHTML: (html) => html }) ?? { createHTML: (html) => html };

  // What the reader and other scripts have set.
  const ownAttributes = ['open', 'style'];
  // Changes nodes in place, so that the focus, the scroll position and opened tables stay.
  const update = (old, fresh) => {
    if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
      old.replaceWith(document.importNode(fresh, true));
      return;
    }
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.data !== fresh.data) old.data = fresh.data;
      return;
    }
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && !ownAttributes.includes(name)) old.removeAttribute(name);
    }
    const [children, freshChildren] = [[...old.childNodes], [...fresh.childNodes]];
    freshChildren.forEach((child, index) => {
      if (index < children.length) update(children[index], child);
      else old.append(document.importNode(child, true));
    });
    for (const child of children.slice(freshChildren.length)) child.remove();
  };

  // Selected text stays, and so do the older entries of a log that the reader has scrolled to.
  const isInUse = () => (getSelection()?.type === 'Range' && getSelection().containsNode(part, true))
    || [...part.querySelectorAll('.log')].some((list) => list.getBoundingClientRect().top < 0);

  // The connection counts as lost after two failures: restarts of the server are shorter.
  let failures = 0;
  const show = (text) => {
    if (status.textContent !== text) status.textContent = text;
    status.classList.toggle('lost', text !== '');
  };
  const refresh = async () => {
    if (document.hidden || isInUse()) return;
    try {
      const response = await fetch(location.href, { signal: AbortSignal.timeout(10_000) });
      if (response.status >= 500) throw new Error();
      const page = new DOMParser().parseFromString(policy.createHTML(await response.text()), 'text/html');
      const fresh = page.querySelector('[data-refreshes]');
      // Somebody else has signed in, or nobody is.
      if (!fresh) {
        location.reload();
        return;
      }
      failures = 0;
      show('');
      if (!isInUse()) update(part, fresh);
    } catch {
      failures += 1;
      if (failures > 1) show(status.dataset.lost);
    }
  };
  const run = async () => {
    await refresh();
    setTimeout(run, Number(part.dataset.refreshes) * 1000);
  };
  setTimeout(run, Number(part.dataset.refreshes) * 1000);
  document.addEventListener('visibilitychange', refresh);
})();
