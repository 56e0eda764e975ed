import DocumentModel
import DocumentStore
package import HearthWire
package import JSONRPC
package import StrictJSON

extension OutgoingWatchFrame {
    /// The kind of the frame.
    package var kind: WatchFrame.Kind {
        switch self {
        case .open: .open
        case .change(let change, _): change.kind.frameKind
        case .damaged: .damaged
        case .current: .current
        case .heartbeat: .checkpoint
        case .reset: .reset
        case .end: .end
        }
    }

    /// The resume token of the frame.
    package var token: ResumeToken? {
        switch self {
        case .open, .reset, .damaged: nil
        case .change(_, let position): position?.token
        case .current(_, _, let token), .heartbeat(_, _, let token): token
        case .end(_, let token): token
        }
    }

    /// Writes the frame as a JSON object.
    package func write(to writer: inout JSONWriter) {
        var members = WatchFrameMembers(kind)
        switch self {
        case .open(let epoch, let sequence, let oldest, let heartbeat):
            members.epoch = epoch
            members.sequence = sequence.rawValue
            members.heartbeat = heartbeat.components.seconds
            members.retained = oldest.rawValue
        case .change(let change, let position):
            members.document = change.document
            members.path = change.path
            members.before = change.before
            members.oldIndex = change.oldIndex
            members.newIndex = change.newIndex
            members.sequence = position?.sequence.rawValue
            members.time = position?.time
            members.number = position?.number
            members.changeCount = position?.count
        case .damaged(let error):
            members.damage = error
        case .current(let sequence, let count, _):
            members.sequence = sequence.rawValue
            members.count = count
        case .heartbeat(let sequence, let count, _):
            members.sequence = sequence.rawValue
            members.count = count
        case .reset(let reason):
            members.reason = reason.rawValue
        case .end(let reason, _):
            members.reason = reason.rawValue
        }
        members.token = token?.text
        members.write(to: &writer)
    }

    /// Writes the last frame of a failed stream as a JSON object.
    package static func write(_ error: RPCError, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(WatchFrameKeys.type, WatchFrame.Kind.error.name)
        writer.member(ErrorKeys.code, error.code.rawValue)
        writer.member(ErrorKeys.message, error.message)
        if !error.data.isEmpty {
            writer.key(ErrorKeys.data)
            error.data.write(to: &writer)
        }
        writer.endObject()
    }
}

extension OutgoingWatchFrame.Change.Kind {
    fileprivate var frameKind: WatchFrame.Kind {
        switch self {
        case .added: .added
        case .modified: .modified
        case .removed: .removed
        case .deleted: .deleted
        }
    }
}

extension JSONSchema {
    /// The schema of a change frame.
    static var change: JSONSchema {
        .component("Change", of: OutgoingWatchFrame.Change.self) {
            .object([
                .init(
                    WatchFrameKeys.type,
                    .string(values: [WatchFrame.Kind.added, .modified, .removed, .deleted].map(\.name)),
                    "The kind of change. A removed document still exists, but no longer belongs to the target."
                ),
                .init(WatchFrameKeys.sequence, .integer(minimum: 1), "The sequence number of the commit."),
                .init(WatchFrameKeys.time, Timestamp.schema, "The time of the commit."),
                .init(
                    WatchFrameKeys.document,
                    .document,
                    "The document; absent if it was removed or deleted, and with include: paths.",
                    isRequired: false
                ),
                .init(
                    WatchFrameKeys.path,
                    DocumentPath.schema,
                    "The path of the document; present if the document is absent.",
                    isRequired: false
                ),
                .init(
                    WatchFrameKeys.before,
                    .document,
                    "The document before the change; only with include: before.",
                    isRequired: false
                ),
                .init(
                    WatchFrameKeys.oldIndex,
                    .integer(minimum: 0),
                    "The previous index in an ordered result.",
                    isRequired: false
                ),
                .init(WatchFrameKeys.newIndex, .integer(minimum: 0), "The new index in an ordered result.", isRequired: false),
                .init(WatchFrameKeys.number, .integer(minimum: 1), "The number of the change within the commit, from 1."),
                .init(WatchFrameKeys.changeCount, .integer(minimum: 1), "The number of changes of the commit."),
                .init(WatchFrameKeys.token, .string(), "The resume token, on the last change of a commit.", isRequired: false),
            ])
        }
    }
}
