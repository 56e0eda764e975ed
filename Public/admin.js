// Copy buttons, the selection of table rows, and recent queries at sign-out. Without this script the copy buttons stay hidden; pages work without it.
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

// The button that deletes selected rows of a table is disabled until a row is selected.
(() => {
  const form = document.getElementById('selection');
  if (!form) return;
  const [button, status] = [form.querySelector('button'), form.querySelector('[role="status"]')];
  const update = () => {
    const count = document.querySelectorAll('input[name="row"]:checked').length;
    button.disabled = count === 0;
    status.textContent = count > 0 ? `${form.dataset.selected}: ${count.toLocaleString(document.documentElement.lang)}` : '';
  };
  document.addEventListener('change', ({ target }) => { if (target.matches('input[name="row"]')) update(); });
  document.addEventListener('hearth:replaced', update);
  // The Back button restores selected rows.
  addEventListener('pageshow', update);
  update();
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
