// Defines shown(SELECTOR, TEXT), which waits until an element contains a text and returns all of its text. The focus is set to the
// first link of the table, or of the page, and must stay there. hidden(SELECTOR, TEXT) waits until the element doesn't contain the text.
(document.querySelector("table[data-live] tbody a") ?? document.querySelector("main a")).focus();
var focused = document.activeElement;
var shown = (selector, text) => new Promise((done) => {
    const poll = () => {
        const found = document.querySelector(selector)?.textContent ?? "";
        if (!found.includes(text)) return setTimeout(poll, 20);
        done(document.activeElement === focused ? found.replace(/\s+/gu, " ").trim() : "the focus has moved");
    };
    poll();
});
var hidden = (selector, text) => new Promise((done) => {
    const poll = () => {
        const found = document.querySelector(selector)?.textContent ?? "";
        if (found.includes(text)) return setTimeout(poll, 20);
        done(found.replace(/\s+/gu, " ").trim());
    };
    poll();
});
