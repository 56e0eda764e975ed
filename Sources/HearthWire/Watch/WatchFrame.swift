public import DocumentModel
internal import StrictJSON

/// A frame of a watch stream, as received.
public struct WatchFrame: Sendable {
    /// The kind of the frame.
    public let kind: Kind
    /// The JSON of the frame, without the line feed.
    public let line: [UInt8]
    /// The parsed frame.
    private let json: JSONNode

    /// Parses a frame.
    ///
    /// - Throws: `.internal` if the line is not a JSON object with a type. Other members are parsed when they are read.
    package init(line: [UInt8]) throws(StatusError) {
        do {
            json = try JSONText(line, limits: JSONLimits(maximumBytes: line.count)).root
        } catch {
            throw StatusError(.internal, "Malformed frame: \(error)", cause: error)
        }
        kind = Kind(name: try json.string(WatchFrameKeys.type))
        self.line = line
    }

    /// Returns the document of an `added` or `modified` frame, or of a `removed` one that has it: then it is as of the commit. `nil`
    /// for other frames.
    public func document() throws(StatusError) -> EncodedDocument? {
        guard let document = json[WatchFrameKeys.document] else { return nil }
        return try EncodedDocument(json: document)
    }

    /// Returns the document as ``document()`` does, with its fields decoded, or the error of fields that cannot be decoded.
    package func decodedDocument() throws(StatusError) -> (path: DocumentPath, document: Result<Document, StatusError>)? {
        guard let document = json[WatchFrameKeys.document] else { return nil }
        return try Document.received(document)
    }

    /// Returns the path of a `removed` or `deleted` document.
    ///
    /// - Throws: `.internal` if the frame has none.
    package func path() throws(StatusError) -> DocumentPath {
        try DocumentPath(json.string(WatchFrameKeys.path))
    }

    /// The resume token after this frame; `nil` if a stream cannot be resumed from here.
    public var token: String? {
        json[WatchFrameKeys.token]?.string
    }

    /// The reason of an `end` frame; `nil` for other frames.
    public var endReason: EndReason? {
        kind == .end ? EndReason(name: json[WatchFrameKeys.reason]?.string ?? "") : nil
    }

    /// The error of an `error` frame; `nil` for other frames.
    public var error: StatusError? {
        kind == .error ? StatusError(json: json) ?? StatusError(.unknown, "The server ended the stream with an error.") : nil
    }

    /// The ID of a stream with several targets, in an `open` frame.
    package var stream: String? { json[WatchFrameKeys.stream]?.string }

    /// The target that the frame is about, in a stream with several targets.
    package var target: Int32? { json[WatchFrameKeys.target]?.targetID }

    /// The targets that a document is in.
    package var targets: [Int32] { json[WatchFrameKeys.targets]?.elements?.compactMap(\.targetID) ?? [] }

    /// The targets that a document has left.
    package var removedTargets: [Int32] { json[WatchFrameKeys.removedTargets]?.elements?.compactMap(\.targetID) ?? [] }

    /// The error of a `targetRemoved` frame; `nil` if the client has removed the target.
    package var targetError: StatusError? { json[WatchFrameKeys.error].flatMap { StatusError(json: $0) } }

    /// The identity of the server's history, in an `open` frame.
    package var epoch: String? { json[WatchFrameKeys.epoch]?.string }

    /// The error of a `damaged` frame.
    package var damage: StatusError { StatusError(damage: json) }

    /// The sequence number of the commit, or the last one that a frame without a change covers; `nil` for a document of the initial
    /// state.
    package var sequence: UInt64? { json.integer(WatchFrameKeys.sequence) }

    /// The number of a change within its commit, from 1; `nil` for a document of the initial state.
    package var number: Int? { json.integer(WatchFrameKeys.number) }

    /// Returns the time of the commit of ``sequence``; `nil` for a document of the initial state, and before the first commit.
    package func time() throws(StatusError) -> Timestamp? { try json.time(WatchFrameKeys.time) }
}

extension JSONNode {
    /// The ID of a target; `nil` for another value.
    fileprivate var targetID: Int32? {
        guard case .integer(let id) = number else { return nil }
        return Int32(exactly: id)
    }
}
