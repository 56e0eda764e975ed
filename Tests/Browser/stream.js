// Watches a collection and records its events in `seen`; until(EVENT) waits for an event and returns all events.
var seen = [];
var until = (text) => new Promise((done) => {
    const poll = () => seen.includes(text) ? done(seen.join(", ")) : setTimeout(poll, 20);
    poll();
});
var source = new EventSource("/watch?collection=stream");
for (const type of ["added", "modified", "removed", "deleted", "current", "reset"]) {
    source.addEventListener(type, (event) => {
        const frame = JSON.parse(event.data);
        seen.push(frame.document ? `${type} ${frame.document.path}` : type);
    });
}
until("current");
