// The editor: applies type changes immediately and adds color pickers. Pages of running jobs reload periodically. Pages work
// without this script.
'use strict';

// Doesn't reload while the user is typing or the page is hidden.
if (document.querySelector('[data-reloads]')) {
  setInterval(() => {
    const isIdle = !document.activeElement || document.activeElement.matches('body, main, a, button');
    if (isIdle && !document.hidden) location.replace(location.href);
  }, 2000);
}

const editor = document.getElementById('editor');
if (editor) {
  const types = editor.querySelector('[data-types]');

  if (types) {
    types.hidden = true;
    editor.addEventListener('change', (event) => {
      if (event.target.matches('select[name$="-type"]')) editor.requestSubmit(types);
    });
  }

  for (const picker of editor.querySelectorAll('input[type=color]')) {
    const text = document.getElementById(picker.dataset.for);
    const chip = picker.parentElement.querySelector('.chip');
    picker.hidden = false;
    const show = (color) => {
      if (!chip) return;
      chip.lastElementChild.textContent = color;
      chip.style.backgroundColor = color;
      const [red, green, blue] = [1, 3, 5].map((at) => {
        const part = parseInt(color.slice(at, at + 2), 16) / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      chip.style.color = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.1791 ? '#000' : '#fff';
    };
    picker.addEventListener('input', () => {
      text.value = picker.value;
      show(picker.value);
    });
    text.addEventListener('input', () => {
      if (!/^#[0-9a-f]{6}$/i.test(text.value)) return;
      picker.value = text.value;
      show(text.value);
    });
  }

  // Moves the cursor to the first error of JSON or rules.
  const code = editor.querySelector('textarea[data-line]');
  if (code) {
    const lines = code.value.split('\n');
    const start = lines.slice(0, code.dataset.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
    const column = [...(lines[code.dataset.line - 1] ?? '')].slice(0, code.dataset.column - 1).join('').length;
    code.setSelectionRange(start + column, start + column);
    code.scrollTop = code.scrollHeight * (code.dataset.line - 3) / lines.length;
  }

  // Warns before leaving the page with unsaved changes.
  let isSubmitted = false;
  let isChanged = document.getElementById('problems') !== null;
  editor.addEventListener('input', () => { isChanged = true; });
  editor.addEventListener('submit', () => { isSubmitted = true; });
  window.addEventListener('beforeunload', (event) => {
    if (isChanged && !isSubmitted) event.preventDefault();
  });
}
