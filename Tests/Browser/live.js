// Waits until an element that a selector finds holds a text, and then gives the text of all of it; with a reader who has the focus
// on a link, the first of the table where there is one, which must stay there.
(document.querySelector("table[data-live] tbody a") ?? document.querySelector("main a")).focus();
var focused = document.activeElement;
var shown = (selector, text) => new Promise((done) => {
    const look = () => {
        const found = document.querySelector(selector)?.textContent ?? "";
        if (!found.includes(text)) return setTimeout(look, 20);
        done(document.activeElement === focused ? found.replace(/\s+/gu, " ").trim() : "the focus has moved");
    };
    look();
});
