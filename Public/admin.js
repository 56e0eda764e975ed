// Copy buttons. Pages are whole without this: the buttons stay hidden then.
'use strict';

const { copied, notCopied } = document.currentScript.dataset;

for (const button of document.querySelectorAll('button.copy')) {
  if (!navigator.clipboard) break;
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener('click', async () => {
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
}
