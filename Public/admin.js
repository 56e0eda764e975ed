// Copy buttons. Without this script the buttons stay hidden; pages work without it.
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
