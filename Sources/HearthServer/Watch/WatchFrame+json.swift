import DocumentModel
import DocumentStore
import HearthService
import JSONRPC
import StrictJSON

extension WatchFrame {
    /// The frame's `type`.
    var type: StaticString {
        switch self {
        case .open: "open"
        case .added: "added"
        case .damaged: "damaged"
        case .modified: "modified"
        case .deleted: "deleted"
        case .current: "current"
        case .checkpoint: "checkpoint"
        case .reset: "reset"
        case .end: "end"
        }
    }

    /// The bookmark that the frame carries.
    var token: WatchToken? {
        switch self {
        case .open, .reset, .damaged, .added(_, nil): nil
        case .added(_, let position?), .modified(_, let position), .deleted(_, let position): position.token
        case .current(_, _, let token), .checkpoint(_, let token): token
        case .end(_, let token): token
        }
    }

    /// The frame as a JSON object.
    func json() -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginObject()
        writer.key("type")
        writer.string(type.description)
        switch self {
        case .open(let epoch, let sequence, let oldest, let heartbeat):
            writer.key("epoch")
            writer.string(epoch)
            writer.write(sequence)
            writer.key("heartbeat")
            writer.integer(heartbeat.components.seconds)
            writer.key("retained")
            writer.integer(Int64(oldest.rawValue))
        case .added(let document, nil):
            writer.write(document)
        case .added(let document, let position?), .modified(let document, let position):
            writer.write(sequence: position)
            writer.write(document)
            writer.write(place: position)
        case .damaged(let document):
            document.writeMembers(to: &writer)
        case .deleted(let path, let position):
            writer.write(sequence: position)
            writer.key("path")
            writer.string(path.string)
            writer.write(place: position)
        case .current(let sequence, let count, _):
            writer.write(sequence)
            writer.key("count")
            writer.integer(Int64(count))
        case .checkpoint(let sequence, _):
            writer.write(sequence)
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
        return writer.finish()
    }

    /// The last frame of a stream that fails, as a JSON object.
    static func errorJSON(_ error: RPCError) -> [UInt8] {
        var writer = JSONWriter()
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
        return writer.finish()
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ sequence: SequenceNumber) {
        key("seq")
        integer(Int64(sequence.rawValue))
    }

    fileprivate mutating func write(sequence position: WatchFrame.Position) {
        write(position.sequence)
        key("time")
        string(position.time.rfc3339)
    }

    fileprivate mutating func write(_ document: EncodedDocument) {
        key("document")
        document.write(to: &self)
    }

    fileprivate mutating func write(place position: WatchFrame.Position) {
        key("n")
        integer(Int64(position.number))
        key("of")
        integer(Int64(position.count))
    }
}
