// Copy buttons. Pages are whole without this: the buttons stay hidden then.
'use strict';

for (const button of document.querySelectorAll('button.copy')) {
  if (!navigator.clipboard) break;
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener('click', async () => {
    const source = button.dataset.copyFrom;
    const text = source ? document.getElementById(source).textContent : button.dataset.copy;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Not copied';
    }
    setTimeout(() => { button.textContent = label; }, 1500);
  });
}
