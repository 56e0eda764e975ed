import DocumentModel
import HearthAPI
import HearthHTTP
import JSONRPC
import NIOCore
import StrictJSON

/// Encodes watch frames as Server-Sent Events with HTML fragments, with which the page's script replaces parts of the page.
///
/// The page's own templates render the fragments, in the language of the page. Each event is self-contained, so that no other
/// request is necessary:
///
///     event: rows
///     data: {"rows":"<tr …","parts":[],"styles":[".c-fd1c48{…}"],"fields":[],"isComplete":false}
///     id: TOKEN
///
/// - `rows`: the current rows, and the live parts of the page in document order. `isComplete` means that there are no other rows.
///   `fields` lists fields without a column.
/// - `removed`: the row with the key `key` was removed.
/// - `changed`: something changed that the stream doesn't describe.
/// - `reset`, `current`: all earlier events are void; the events until `current` are the complete state.
/// - `checkpoint`, `end`, `failed`: like those of `/watch`, which calls the last one `error`. The `reason` of `failed` is
///   localized; if the session has ended, `signIn` is the page to sign in again.
struct LiveEventEncoder: WatchEncoder {
    /// The part of a document that the page shows.
    enum Contents: Sendable {
        /// A row of a table.
        case rows(LiveColumns)
        /// The document itself, with more than the first values of the map or array at a path.
        case document(expanding: String?)
        /// Content that can only be updated by reloading the page.
        case none

        var needsDocuments: Bool {
            if case .none = self { false } else { true }
        }
    }

    let contents: Contents
    /// True if rows have checkboxes and links to editors.
    let canWrite: Bool
    /// True if the stream belongs to a browser session, with which it ends.
    let hasSession: Bool
    let templates: TemplateLibrary
    let now: @Sendable () -> Timestamp
    /// The translations of the page's language.
    private let translations = Translations.current
    private let database = AdminURL.database
    /// The origins of images that the Content-Security-Policy of the page allows.
    private let imageOrigins = ImageOrigins.current

    init(
        contents: Contents,
        canWrite: Bool,
        hasSession: Bool,
        templates: TemplateLibrary,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.contents = contents
        self.canWrite = canWrite
        self.hasSession = hasSession
        self.templates = templates
        self.now = now
    }

    var contentType: String { "text/event-stream" }
    var sharedFormat: WatchFormat? { nil }
    /// Limits the rate, because each change is rendered for each subscriber.
    var batchingInterval: Duration { .milliseconds(50) }

    func write(_ frame: OutgoingWatchFrame, to buffer: inout ByteBuffer) {
        let event = Translations.$current.withValue(translations) {
            AdminURL.$database.withValue(database) {
                ImageOrigins.$current.withValue(imageOrigins) { self.event(of: frame) }
            }
        }
        guard let event else {
            // A comment, so that the browser considers the stream open.
            buffer.writeStaticString(":\n\n")
            return
        }
        buffer.writeReconnectionTime(after: frame)
        buffer.writeEvent(event.type, event.json, id: frame.token)
    }

    func write(_ error: RPCError, to buffer: inout ByteBuffer) {
        let reason = Translations.$current.withValue(translations) { Self.reason(StatusCode(rawValue: error.code.rawValue)) }
        buffer.writeEvent("failed", Event("failed", reason: reason).json, id: nil)
    }

    /// Returns the localized reason for an error.
    private static func reason(_ code: StatusCode?) -> String {
        switch code {
        case .unavailable: localized("The server is overloaded.")
        case .resourceExhausted: localized("There are too many documents for live updates.")
        case .dataLoss: localized("A file here can’t be read.")
        case .permissionDenied, .unauthenticated: localized("You no longer have permission to see this.")
        default: localized("The server couldn’t continue the live updates.")
        }
    }
}

extension LiveEventEncoder {
    /// An encoded event.
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

        init(_ type: String, reason: String) {
            self.init(type) { writer in
                writer.key("reason")
                writer.string(reason)
            }
        }
    }

    /// Encodes a frame; returns `nil` for a frame without an event.
    private func event(of frame: OutgoingWatchFrame) -> Event? {
        switch frame {
        case .open: nil
        case .change(let change, _): event(of: change)
        case .damaged: Event("changed")
        case .current: Event("current")
        case .heartbeat: Event("checkpoint")
        case .reset: Event("reset")
        case .end(.revoked, _) where hasSession:
            Event("failed") { writer in
                writer.key("reason")
                writer.string(localized("Your session has ended."))
                writer.key("signIn")
                writer.string(AdminURL.signIn)
            }
        case .end(.revoked, _), .end(.unauthenticated, _): Event("failed", reason: Self.reason(.unauthenticated))
        case .end(let reason, _):
            Event("end") { writer in
                writer.key("reason")
                writer.string(reason.rawValue)
            }
        }
    }

    private func event(of change: OutgoingWatchFrame.Change) -> Event {
        switch change.kind {
        case _ where !contents.needsDocuments: Event("changed")
        case .removed, .deleted:
            Event("removed") { writer in
                writer.key("key")
                writer.string(LinkView(toRowOf: change.path).url)
            }
        case .added, .modified:
            // The reloaded page reports unreadable documents.
            (try? change.document?.decoded()).map { Event("rows", LiveFragments(of: $0, in: self).write(to:)) }
                ?? Event("changed")
        }
    }
}
