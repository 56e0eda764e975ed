// Copy buttons, the selection and the head of tables, and recent queries at sign-out. Without this script the copy buttons stay hidden; pages work without it.
'use strict';

(() => {
  if (!navigator.clipboard) return;
  const { copied, notCopied } = document.currentScript.dataset;
  const reveal = () => {
    for (const button of document.querySelectorAll('button.copy[hidden]')) button.hidden = false;
  };
  document.addEventListener('click', async (event) => {
    const button = event.target.closest?.('button.copy');
    if (!button) return;
    const label = button.dataset.label ??= button.textContent;
    const { copy, copyEncoded, copyFrom } = button.dataset;
    const text = copyFrom ? document.getElementById(copyFrom).textContent : copy ?? decodeURIComponent(copyEncoded);
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = copied;
    } catch {
      button.textContent = notCopied;
    }
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  // Content replaced by live updates has copy buttons, too.
  document.addEventListener('hearth:replaced', reveal);
  reveal();
})();

// Moves the caret to the first error of JSON, rules or a query, and shows its line.
(() => {
  // A browser does not focus the text by itself if the URL has a fragment, as that of a query that was run.
  if (location.hash) document.querySelector('textarea[autofocus]')?.focus();
  const code = document.querySelector('textarea[data-line]');
  if (!code) return;
  const lines = code.value.split('\n');
  const start = lines.slice(0, code.dataset.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
  const column = [...(lines[code.dataset.line - 1] ?? '')].slice(0, code.dataset.column - 1).join('').length;
  code.setSelectionRange(start + column, start + column);
  code.scrollTop = code.scrollHeight * (code.dataset.line - 3) / lines.length;
})();

// The bar for selected rows is hidden until a row is selected, and a checkbox in the head of the table selects all of them.
(() => {
  const form = document.getElementById('selection');
  const all = document.getElementById('select-all');
  if (!form || !all) return;
  const [status, clear] = [form.querySelector('[role="status"]'), form.querySelector('[data-clears]')];
  // The actions on the documents of other pages, too.
  const matching = form.querySelector('.all-matching');
  const boxes = () => [...document.querySelectorAll('input[name="row"]')];
  const update = () => {
    const [count, total] = [boxes().filter((box) => box.checked).length, boxes().length];
    all.disabled = total === 0;
    all.checked = count > 0 && count === total;
    all.indeterminate = count > 0 && count < total;
    form.hidden = count === 0;
    if (matching) matching.hidden = !all.checked;
    status.textContent = count > 0 ? form.dataset.selected.replace('{count}', count.toLocaleString(document.documentElement.lang)) : '';
  };
  const select = (isSelected) => {
    for (const box of boxes()) box.checked = isSelected;
    update();
  };
  // The last box that was changed: Shift selects the rows from there.
  let last = null;
  document.addEventListener('click', ({ target, shiftKey }) => {
    if (!target.matches?.('input[name="row"]')) return;
    const [from, to] = [boxes().indexOf(last), boxes().indexOf(target)].sort((a, b) => a - b);
    if (shiftKey && from >= 0) for (const box of boxes().slice(from, to + 1)) box.checked = target.checked;
    last = target;
    update();
  });
  all.addEventListener('change', () => select(all.checked));
  clear.addEventListener('click', () => {
    select(false);
    all.focus();
  });
  document.addEventListener('change', ({ target }) => { if (target.matches('input[name="row"]')) update(); });
  // The bar is at the end of the page, but comes next in the focus order of a selected box.
  const stops = (root) => [...root.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
    .filter((element) => element.tabIndex >= 0 && !element.disabled && element.checkVisibility());
  let origin = null;
  document.addEventListener('keydown', (event) => {
    const { target, shiftKey } = event;
    if (event.key !== 'Tab' || event.ctrlKey || event.altKey || event.metaKey || form.hidden) return;
    const bar = stops(form);
    let next;
    if (!form.contains(target)) {
      const isBox = target === all ? all.checked || all.indeterminate : target.matches('input[name="row"]:checked');
      if (!isBox || shiftKey) return;
      origin = target;
      next = bar[0];
    } else if (origin?.isConnected && target === (shiftKey ? bar[0] : bar.at(-1))) {
      const others = stops(document).filter((element) => !form.contains(element));
      next = shiftKey ? origin : others[others.indexOf(origin) + 1];
    }
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  document.addEventListener('hearth:replaced', update);
  // The Back button restores selected rows.
  addEventListener('pageshow', update);
  all.hidden = false;
  clear.hidden = false;
  update();
})();

// The head of a table stays in the window while the page scrolls. With a scroll timeline, the browser moves it in step with the page.
(() => {
  const follow = (region) => {
    const head = region.querySelector('thead');
    if (!head) return;
    let animation = null;
    let [start, distance] = [0, 0];
    const place = () => {
      const shift = Math.min(Math.max(scrollY - start, 0), distance);
      head.style.translate = shift > 0 ? `0 ${shift}px` : '';
    };
    const measure = () => {
      const box = region.getBoundingClientRect();
      const [top, room] = [box.top + region.clientTop + scrollY, Math.max(0, region.clientHeight - 2 * head.offsetHeight)];
      if (Math.abs(top - start) < 1 && Math.abs(room - distance) < 1) return;
      [start, distance] = [top, room];
      // Also before the first frame of the animation.
      place();
      if (!window.ScrollTimeline) return;
      animation?.cancel();
      animation = head.animate({ translate: ['0 0', `0 ${distance}px`] }, {
        timeline: new ScrollTimeline({ source: document.documentElement }),
        rangeStart: `${start}px`, rangeEnd: `${start + distance}px`, fill: 'both',
      });
    };
    const observer = new ResizeObserver(measure);
    for (const element of [region, document.body, region.parentElement]) observer.observe(element);
    if (!window.ScrollTimeline) addEventListener('scroll', place, { passive: true });
    measure();
  };
  document.querySelectorAll('.scroll').forEach(follow);
})();

// The document of the panel is in view in its list, and a column that the table is sorted by beside those that stay.
(() => {
  const chosen = document.querySelector('nav.panel a[aria-current]');
  if (chosen) {
    const list = chosen.closest('nav');
    const [box, frame] = [chosen.getBoundingClientRect(), list.getBoundingClientRect()];
    if (box.bottom > Math.min(frame.bottom, innerHeight)) {
      list.scrollTop += (box.top + box.bottom - frame.top - frame.bottom) / 2;
      // The end of the list may be below the window.
      chosen.scrollIntoView({ block: 'nearest' });
    }
  }
  const sorted = document.querySelector('.scroll > table.documents th[aria-sort]');
  if (sorted) {
    const region = sorted.closest('.scroll');
    const [box, frame] = [sorted.getBoundingClientRect(), region.getBoundingClientRect()];
    if (box.right > frame.right || box.left < frame.left) region.scrollLeft += (box.left + box.right - frame.left - frame.right) / 2;
  }
})();

// Times are shown in the time zone of the reader, too: behind those of a document, and on others under the pointer.
(() => {
  const language = document.documentElement.lang;
  const text = (time) => {
    const date = new Date(time.dateTime);
    if (Number.isNaN(date.valueOf()) || date.getTimezoneOffset() === 0) return '';
    return date.toLocaleString(language, {
      year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short',
    });
  };
  const show = () => {
    for (const time of document.querySelectorAll('.fields td.value > time:not([data-local])')) {
      const local = text(time);
      if (local) time.dataset.local = local;
    }
  };
  document.addEventListener('pointerover', ({ target }) => {
    const time = target.closest?.('time:not([data-local])');
    if (!time) return;
    time.title = text(time);
    time.addEventListener('pointerout', () => time.removeAttribute('title'), { once: true });
  });
  document.addEventListener('hearth:replaced', show);
  show();
})();

// Recent queries are removed at sign-out.
document.addEventListener('submit', ({ target }) => {
  if (target.getAttribute('action') !== '/admin/sign-out') return;
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith('hearth-queries-recent:')) localStorage.removeItem(key);
  } catch {
    // Without storage there are none.
  }
});
