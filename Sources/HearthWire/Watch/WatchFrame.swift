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

    /// Returns the document of an `added` or `modified` frame; `nil` for other frames.
    public func document() throws(StatusError) -> EncodedDocument? {
        guard let document = json[WatchFrameKeys.document] else { return nil }
        return try EncodedDocument(json: document)
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

    /// The error of a `damaged` frame.
    package var damage: StatusError { StatusError(damage: json) }

    /// The sequence number of the commit; `nil` for a document of the initial state.
    package var sequence: UInt64? { json.integer(WatchFrameKeys.sequence) }

    /// The number of a change within its commit, from 1; `nil` for a document of the initial state.
    package var number: Int? { json.integer(WatchFrameKeys.number) }

    /// Returns the time of the commit; `nil` for a document of the initial state.
    package func time() throws(StatusError) -> Timestamp? { try json.time(WatchFrameKeys.time) }
}
