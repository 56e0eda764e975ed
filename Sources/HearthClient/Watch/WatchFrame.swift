public import DocumentModel
package import StrictJSON

/// One message of a watch stream.
public struct WatchFrame: Sendable {
    /// What the frame says.
    public let kind: Kind
    /// The frame as it came: JSON without the line feed.
    public let line: [UInt8]
    /// The frame's members.
    package let json: JSONNode

    /// The kinds of frames.
    public enum Kind: Hashable, Sendable {
        /// The stream works.
        case open
        /// A document is in the target that was not before, or is part of the initial state.
        case added
        /// A document has changed.
        case modified
        /// A document is still there but no longer in the target.
        case removed
        /// A document no longer exists.
        case deleted
        /// The initial state is complete.
        case current
        /// Nothing has changed up to here.
        case checkpoint
        /// What was sent so far is void; the state follows again.
        case reset
        /// The server ends the stream as it should end.
        case end
        /// The server ends the stream because of an error.
        case error
        /// A kind that a later server may send; to be passed over.
        case other(String)

        var isLast: Bool { self == .end || self == .error }
    }

    /// The document of an `added` or `modified` frame; nil in others.
    public func document() throws(StatusError) -> EncodedDocument? {
        guard let document = json["document"] else { return nil }
        return try EncodedDocument(rpc: document)
    }

    /// What a stream is resumed with to go on after this frame; nil where that can't be.
    public var token: String? {
        json["token"]?.string
    }

    /// What an `error` frame says; nil in others.
    public var error: StatusError? {
        kind == .error ? StatusError(rpc: json) ?? StatusError(.unknown, "The server ended the stream with an error.") : nil
    }
}

extension WatchFrame {
    init(_ line: [UInt8], from server: ServerAddress) throws(StatusError) {
        do {
            json = try JSONText(line, limits: JSONLimits(maximumBytes: line.count)).root
        } catch {
            throw StatusError.foreignAnswer(from: server, cause: error)
        }
        guard let type = json["type"]?.string else { throw StatusError.foreignAnswer(from: server) }
        kind = Kind(UTF8Key(type))
        self.line = line
    }
}

extension WatchFrame.Kind {
    init(_ type: UTF8Key) {
        self =
            switch type {
            case "open": .open
            case "added": .added
            case "modified": .modified
            case "removed": .removed
            case "deleted": .deleted
            case "current": .current
            case "checkpoint": .checkpoint
            case "reset": .reset
            case "end": .end
            case "error": .error
            default: .other(type.string)
            }
    }
}
