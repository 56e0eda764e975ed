import DocumentModel
import HearthServer
import HearthService
import JSONRPC
import NIOCore
import StrictJSON

/// Writes what a page follows as Server-Sent Events whose contents the page's script puts in place as they are.
///
/// Rows and parts are made by the page's own templates, in its language; each event has all that they need, so that nothing is asked
/// for after it:
///
///     event: put
///     data: {"rows":"<tr …","parts":[],"styles":[".c-fd1c48{…}"],"fields":[],"isWhole":false}
///     id: TOKEN
///
/// - `put`: rows as they are now, and parts of the page in their order. `isWhole` says that there are no other rows; `fields` names
///   what the table has no column for.
/// - `gone`: `key` tells the row of what is no longer there.
/// - `sign`: something has changed that is not told.
/// - `reset`, `current`: what was sent before is void; what is sent until `current` is all there is.
/// - `checkpoint`, `end`, `failed`: as those of `/watch`, which calls the last `error`. `why` says it to people.
struct LiveEvents: WatchEncoder {
    /// What the page shows of a document.
    enum Contents: Sendable {
        /// A row of a table.
        case rows(LiveColumns)
        /// The document itself.
        case document
        /// Something that only the whole page can be made of.
        case nothing

        var needsDocuments: Bool {
            if case .nothing = self { false } else { true }
        }
    }

    let contents: Contents
    /// Whether rows can be ticked.
    let mayWrite: Bool
    let templates: TemplateLibrary
    let now: @Sendable () -> Timestamp
    /// Those of the page, which is made at another time.
    private let texts = Texts.current
    private let database = AdminURL.database

    init(contents: Contents, mayWrite: Bool, templates: TemplateLibrary, now: @escaping @Sendable () -> Timestamp) {
        self.contents = contents
        self.mayWrite = mayWrite
        self.templates = templates
        self.now = now
    }

    var contentType: String { "text/event-stream" }
    var commonFormat: WatchFormat? { nil }
    /// Nobody reads faster, and each change is drawn for each who looks.
    var pause: Duration { .milliseconds(50) }

    func write(_ frame: WatchFrame, to buffer: inout ByteBuffer) {
        let event = Texts.$current.withValue(texts) { AdminURL.$database.withValue(database) { self.event(of: frame) } }
        guard let event else {
            // Lets the browser know that the stream is there.
            buffer.writeStaticString(":\n\n")
            return
        }
        buffer.writeEvent(event.type, event.json, id: frame.token)
    }

    func write(_ error: RPCError, to buffer: inout ByteBuffer) {
        let why = Texts.$current.withValue(texts) { Self.why(StatusCode(rawValue: error.code.rawValue)) }
        buffer.writeEvent("failed", Event("failed", why: why).json, id: nil)
    }

    /// What people are told of an error.
    private static func why(_ code: StatusCode?) -> String {
        switch code {
        case .unavailable: localized("The server has too much to do just now.")
        case .resourceExhausted: localized("There is too much here to be followed.")
        case .dataLoss: localized("A file here can’t be read.")
        case .permissionDenied, .unauthenticated: localized("You may not see this any more.")
        default: localized("The server could not go on telling what changes here.")
        }
    }
}

extension LiveEvents {
    /// An event, ready to be sent.
    private struct Event {
        let type: String
        var json: [UInt8]

        init(_ type: String, _ members: (inout JSONWriter) -> Void = { _ in }) {
            self.type = type
            var writer = JSONWriter()
            writer.beginObject()
            members(&writer)
            writer.endObject()
            json = writer.finish()
        }

        init(_ type: String, why: String) {
            self.init(type) { writer in
                writer.key("why")
                writer.string(why)
            }
        }
    }

    /// What is told of a frame; nil for nothing.
    private func event(of frame: WatchFrame) -> Event? {
        switch frame {
        case .open: nil
        case .change(let change, _): event(of: change)
        case .damaged: Event("sign")
        case .current: Event("current")
        case .checkpoint: Event("checkpoint")
        case .reset: Event("reset")
        case .end(.revoked, _): Event("failed", why: Self.why(.unauthenticated))
        case .end(let reason, _):
            Event("end") { writer in
                writer.key("reason")
                writer.string(reason.rawValue)
            }
        }
    }

    private func event(of change: WatchFrame.Change) -> Event {
        switch change.kind {
        case _ where !contents.needsDocuments: Event("sign")
        case .removed, .deleted:
            Event("gone") { writer in
                writer.key("key")
                writer.string(LinkView(toRowOf: change.path).url)
            }
        case .added, .modified:
            // One that can't be read is told of by the page.
            (try? change.document?.decoded()).map { Event("put", LiveParts(of: $0, in: self).write(to:)) } ?? Event("sign")
        }
    }
}
