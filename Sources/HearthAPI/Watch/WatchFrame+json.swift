import DocumentModel
import DocumentStore
package import JSONRPC
package import StrictJSON
import UTF8Text

extension WatchFrame {
    /// The frame's `type`.
    package var type: String {
        switch self {
        case .open: "open"
        case .change(let change, _): change.kind.rawValue
        case .damaged: "damaged"
        case .current: "current"
        case .checkpoint: "checkpoint"
        case .reset: "reset"
        case .end: "end"
        }
    }

    /// The resume token of the frame.
    package var token: ResumeToken? {
        switch self {
        case .open, .reset, .damaged: nil
        case .change(_, let position): position?.token
        case .current(_, _, let token), .checkpoint(_, _, let token): token
        case .end(_, let token): token
        }
    }

    /// Writes the frame as a JSON object.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("type")
        writer.string(type)
        switch self {
        case .open(let epoch, let sequence, let oldest, let heartbeat):
            writer.key("epoch")
            writer.string(epoch)
            writer.write(sequence)
            writer.key("heartbeat")
            writer.integer(heartbeat.components.seconds)
            writer.key("retained")
            writer.integer(Int64(oldest.rawValue))
        case .change(let change, let position):
            if let position { writer.write(sequenceAndTimeOf: position) }
            writer.write(change)
            if let position { writer.write(numberAndCountOf: position) }
        case .damaged(let document):
            document.writeMembers(to: &writer)
        case .current(let sequence, let count, _):
            writer.write(sequence)
            writer.key("count")
            writer.integer(Int64(count))
        case .checkpoint(let sequence, let count, _):
            writer.write(sequence)
            writer.write("count", count)
        case .reset(let reason):
            writer.key("reason")
            writer.string(reason.rawValue)
        case .end(let reason, _):
            writer.key("reason")
            writer.string(reason.rawValue)
        }
        if let token {
            writer.key("token")
            writer.string(token.text)
        }
        writer.endObject()
    }

    /// Writes the last frame of a failed stream as a JSON object.
    package static func write(_ error: RPCError, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("type")
        writer.string("error")
        writer.key("code")
        writer.integer(Int64(error.code.rawValue))
        writer.key("message")
        writer.string(error.message)
        if !error.data.isEmpty {
            writer.key("data")
            error.data.write(to: &writer)
        }
        writer.endObject()
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ sequence: SequenceNumber) {
        key("seq")
        integer(Int64(sequence.rawValue))
    }

    fileprivate mutating func write(sequenceAndTimeOf position: WatchFrame.Position) {
        write(position.sequence)
        key("time")
        string(position.time.rfc3339)
    }

    fileprivate mutating func write(_ change: WatchFrame.Change) {
        if let document = change.document {
            key("document")
            document.write(to: &self)
        } else {
            key("path")
            string(change.path.string)
        }
        if let before = change.before {
            key("before")
            before.write(to: &self)
        }
        write("oldIndex", change.oldIndex)
        write("newIndex", change.newIndex)
    }

    fileprivate mutating func write(_ name: StaticString, _ number: Int?) {
        guard let number else { return }
        key(name)
        integer(Int64(number))
    }

    fileprivate mutating func write(numberAndCountOf position: WatchFrame.Position) {
        key("n")
        integer(Int64(position.number))
        key("of")
        integer(Int64(position.count))
    }
}

extension JSONSchema {
    /// The schema of a change frame.
    static var change: JSONSchema {
        .component("Change", of: WatchFrame.Change.self) {
            .object([
                .init(
                    "type",
                    .string(values: ["added", "modified", "removed", "deleted"]),
                    "The kind of change. A removed document still exists, but no longer belongs to the target."
                ),
                .init("seq", .integer(minimum: 1), "The sequence number of the commit."),
                .init("time", Timestamp.schema, "The time of the commit."),
                .init(
                    "document",
                    .document,
                    "The document; absent if it was removed or deleted, and with include: paths.",
                    isRequired: false
                ),
                .init(
                    "path",
                    DocumentPath.schema,
                    "The path of the document; present if the document is absent.",
                    isRequired: false
                ),
                .init("before", .document, "The document before the change; only with include: before.", isRequired: false),
                .init("oldIndex", .integer(minimum: 0), "The previous index in an ordered result.", isRequired: false),
                .init("newIndex", .integer(minimum: 0), "The new index in an ordered result.", isRequired: false),
                .init("n", .integer(minimum: 1), "The number of the change within the commit, from 1."),
                .init("of", .integer(minimum: 1), "The number of changes of the commit."),
                .init("token", .string(), "The resume token, on the last change of a commit.", isRequired: false),
            ])
        }
    }
}
