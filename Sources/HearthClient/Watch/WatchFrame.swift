public import DocumentModel
package import StrictJSON
internal import UTF8Text

/// A message of a watch stream.
public struct WatchFrame: Sendable {
    /// The kind of the frame.
    public let kind: Kind
    /// The JSON of the frame as received, without the line feed.
    public let line: [UInt8]
    /// The parsed frame.
    package let json: JSONNode

    /// The kinds of frames.
    public enum Kind: Hashable, Sendable {
        /// The stream has been opened.
        case open
        /// A document was added to the target, or is part of the initial state.
        case added
        /// A document was modified.
        case modified
        /// A document still exists but is no longer in the target.
        case removed
        /// A document was deleted.
        case deleted
        /// The initial state is complete.
        case current
        /// A new resume token without changes of the target.
        case checkpoint
        /// The state received so far is invalid. The current state follows.
        case reset
        /// The server ends the stream regularly.
        case end
        /// The server ends the stream because of an error.
        case error
        /// A kind unknown to this version, to be ignored.
        case other(String)

        var isLast: Bool { self == .end || self == .error }
    }

    /// Returns the document of an `added` or `modified` frame; `nil` for other frames.
    public func document() throws(StatusError) -> EncodedDocument? {
        guard let document = json["document"] else { return nil }
        return try EncodedDocument(rpc: document)
    }

    /// The resume token after this frame; `nil` if a stream can't be resumed here.
    public var token: String? {
        json["token"]?.string
    }

    /// The error of an `error` frame; `nil` for other frames.
    public var error: StatusError? {
        kind == .error ? StatusError(rpc: json) ?? StatusError(.unknown, "The server ended the stream with an error.") : nil
    }
}

extension WatchFrame {
    init(_ line: [UInt8], from server: ServerAddress) throws(StatusError) {
        do {
            json = try JSONText(line, limits: JSONLimits(maximumBytes: line.count)).root
        } catch {
            throw StatusError.unexpectedResponse(from: server, cause: error)
        }
        guard let type = json["type"]?.string else { throw StatusError.unexpectedResponse(from: server) }
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
