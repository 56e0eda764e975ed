// Pickers beside text fields of forms: colors, and dates with times in the time zone of the reader. The text stays what is submitted.
// Without this script the pickers stay hidden. References have suggestions while typing, and without this script a button for them.
'use strict';

(() => {
  const pickers = '[data-for]';
  const textOf = (picker) => document.getElementById(picker.closest(pickers).dataset.for);
  const pickerOf = (text) => (text.id ? document.querySelector(`[data-for="${CSS.escape(text.id)}"]`) : null);

  // A color with two digits for each component: what the picker has, which is opaque, and the alpha; null for any other text.
  const parseColor = (text) => {
    if (!/^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(text)) return null;
    const digits = text.length < 6 ? text.slice(1).replace(/./g, '$&$&') : text.slice(1);
    return { opaque: `#${digits.slice(0, 6)}`, alpha: digits.slice(6) };
  };
  // A translucent color is a swatch, and the background of its notation is the color over white.
  const showColor = (picker, { opaque, alpha }) => {
    const chip = picker.parentElement.querySelector('.chip');
    if (!chip) return;
    const opacity = alpha ? parseInt(alpha, 16) / 255 : 1;
    const ground = [1, 3, 5].map((at) => Math.round(255 + (parseInt(opaque.slice(at, at + 2), 16) - 255) * opacity));
    chip.lastElementChild.textContent = opaque + alpha;
    chip.style.setProperty('--swatch', opaque + alpha);
    chip.style.backgroundColor = `rgb(${ground})`;
    const [red, green, blue] = ground.map((component) => {
      const part = component / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    chip.style.color = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.1791 ? '#000' : '#fff';
  };

  // The notation of the pages: 2014-09-09 08:00:47.25 UTC.
  const format = (time) => time.toISOString().replace('T', ' ').replace(/\.?0*Z$/, ' UTC');
  const parse = (text) => {
    const parts = /^\s*(\d{4}-\d\d-\d\d)(?:[ Tt](\d\d:\d\d(?::\d\d)?)(\.\d{1,3})?\d*)? ?(UTC|utc|[Zz]|[+-]\d\d:\d\d)?\s*$/.exec(text);
    if (!parts) return null;
    const [, day, clock = '00:00', fraction = '', zone = 'Z'] = parts;
    const time = new Date(`${day}T${clock.length === 5 ? `${clock}:00` : clock}${fraction}${/^[uz]/i.test(zone) ? 'Z' : zone}`);
    return Number.isNaN(time.valueOf()) ? null : time;
  };
  // The wall clock of the reader, without a time zone, as the picker requires it.
  const local = (time) => {
    const two = (number) => String(number).padStart(2, '0');
    const day = `${String(time.getFullYear()).padStart(4, '0')}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
    return `${day}T${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  };
  const zone = (time) => new Intl.DateTimeFormat(document.documentElement.lang, { timeZoneName: 'short' })
    .formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const showTime = (picker, text) => {
    const time = parse(text.value);
    const input = picker.querySelector('input');
    input.value = time ? local(time) : '';
    picker.querySelector('.zone').textContent = zone(time ?? new Date());
  };

  const set = (text, value) => {
    text.value = value;
    text.dispatchEvent(new Event('input', { bubbles: true }));
  };
  document.addEventListener('input', ({ target }) => {
    if (target.matches('input[type="color"][data-for]')) {
      const text = textOf(target);
      const color = { opaque: target.value, alpha: parseColor(text.value)?.alpha ?? '' };
      text.value = color.opaque + color.alpha;
      showColor(target, color);
    } else if (target.matches('input[type="datetime-local"]')) {
      const time = new Date(target.value);
      if (!Number.isNaN(time.valueOf())) textOf(target).value = format(time);
      target.closest(pickers).querySelector('.zone').textContent = zone(Number.isNaN(time.valueOf()) ? new Date() : time);
    } else {
      const picker = pickerOf(target);
      if (picker?.matches('.time-picker')) showTime(picker, target);
      else if (picker && parseColor(target.value)) {
        const color = parseColor(target.value);
        picker.value = color.opaque;
        showColor(picker, color);
      }
    }
  });
  document.addEventListener('click', ({ target }) => {
    const button = target.closest?.('button[data-time]');
    if (!button) return;
    set(textOf(button), button.dataset.time === 'now' ? 'now' : format(new Date()));
  });

  // The suggestions for a reference: documents, and collections whose documents are suggested next.
  const suggestionDelay = 120;
  let suggestionTimer = 0;
  const suggest = (text) => {
    clearTimeout(suggestionTimer);
    suggestionTimer = setTimeout(async () => {
      const { value } = text;
      const from = document.querySelector('form.find [name="from"]')?.value ?? '';
      const url = `${text.dataset.suggests}?${new URLSearchParams({ suggest: 'references', q: value, from })}`;
      const response = await fetch(url).catch(() => null);
      // A session may have ended.
      if (!response?.ok || text.value !== value) return;
      const { paths } = await response.json();
      text.list.replaceChildren(...paths.map((path) => {
        const option = document.createElement('option');
        option.value = path;
        return option;
      }));
    }, suggestionDelay);
  };
  for (const type of ['input', 'focusin']) {
    document.addEventListener(type, ({ target }) => { if (target.matches('input[data-suggests]')) suggest(target); });
  }

  const reveal = () => {
    for (const button of document.querySelectorAll('button[data-finds]')) button.hidden = true;
    for (const picker of document.querySelectorAll(`${pickers}[hidden]`)) {
      picker.hidden = false;
      if (picker.matches('.time-picker')) showTime(picker, textOf(picker));
    }
  };
  document.addEventListener('hearth:replaced', reveal);
  reveal();
})();
