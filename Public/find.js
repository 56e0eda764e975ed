// Suggestions of the search box, as a combobox. Without this script the form shows a page of results.
'use strict';

{
  const form = document.querySelector('form.find');
  const input = form?.elements.q;
  const listId = 'find-suggestions';
  const delay = 120;

  const setUp = () => {
    const status = document.createElement('span');
    status.className = 'visually-hidden';
    status.setAttribute('role', 'status');
    const list = document.createElement('ul');
    list.id = listId;
    list.hidden = true;
    list.setAttribute('role', 'listbox');
    list.setAttribute('aria-label', form.dataset.suggestions);
    form.append(list, status);
    const attributes = { role: 'combobox', 'aria-expanded': 'false', 'aria-controls': listId, 'aria-autocomplete': 'list' };
    for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);

    let options = [];
    let active = -1;
    let timer;
    let request;

    const setActive = (index) => {
      list.children[active]?.setAttribute('aria-selected', 'false');
      active = index;
      const option = list.children[active];
      option?.setAttribute('aria-selected', 'true');
      option?.scrollIntoView({ block: 'nearest' });
      if (option) input.setAttribute('aria-activedescendant', option.id);
      else input.removeAttribute('aria-activedescendant');
    };
    const close = () => {
      clearTimeout(timer);
      request?.abort();
      setActive(-1);
      list.hidden = true;
      input.setAttribute('aria-expanded', 'false');
    };
    const span = (className, text, isData) => {
      const element = document.createElement(isData ? 'bdi' : 'span');
      element.className = className;
      element.textContent = text;
      if (isData) element.lang = '';
      return element;
    };
    const show = (found) => {
      options = found.options;
      setActive(-1);
      list.replaceChildren(...options.map(({ kind, text, detail }, index) => {
        const item = document.createElement('li');
        item.id = `${listId}-${index}`;
        item.setAttribute('role', 'option');
        item.setAttribute('aria-selected', 'false');
        item.append(span('name', text, true), ' ');
        if (detail) item.append(span('detail', detail, true), ' ');
        item.append(span('kind', kind, false));
        return item;
      }));
      status.textContent = found.status;
      list.hidden = options.length === 0;
      input.setAttribute('aria-expanded', String(!list.hidden));
    };
    const load = async () => {
      request?.abort();
      request = new AbortController();
      const url = new URL(form.action);
      url.search = new URLSearchParams([...new FormData(form), ['suggest', '1']]);
      try {
        const response = await fetch(url, { signal: request.signal });
        // A session may have ended.
        if (!response.ok) return close();
        show(await response.json());
      } catch (error) {
        if (error.name !== 'AbortError') close();
      }
    };
    const follow = (index) => location.assign(options[index].url);

    input.addEventListener('input', () => {
      clearTimeout(timer);
      if (input.value.trim() === '') return close();
      timer = setTimeout(load, delay);
    });
    input.addEventListener('keydown', (event) => {
      if (event.isComposing) return;
      const isOpen = !list.hidden;
      const move = (by) => {
        event.preventDefault();
        if (isOpen) setActive((active + by + options.length + (active < 0 && by < 0 ? 1 : 0)) % options.length);
        else if (input.value.trim() !== '') load();
      };
      switch (event.key) {
        case 'ArrowDown': move(1); break;
        case 'ArrowUp': move(-1); break;
        case 'Enter':
          if (isOpen && active >= 0) {
            event.preventDefault();
            follow(active);
          }
          break;
        case 'Escape':
          if (isOpen) {
            event.preventDefault();
            close();
          }
          break;
      }
    });
    form.addEventListener('focusout', ({ relatedTarget }) => { if (!form.contains(relatedTarget)) close(); });
    // The focus stays in the field.
    list.addEventListener('mousedown', (event) => event.preventDefault());
    list.addEventListener('click', ({ target }) => {
      const index = [...list.children].indexOf(target.closest('[role="option"]'));
      if (index >= 0) follow(index);
    });
    document.addEventListener('keydown', (event) => {
      const isShortcut = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k';
      if (!isShortcut || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      input.focus();
      input.select();
    });
    // A page that the Back button restores has no suggestions.
    addEventListener('pageshow', close);
  };
  if (form) setUp();
}
