import DocumentModel

/// A response of a stream.
protocol StreamResponse: Sendable {
    /// Encodes the response as a message of Protocol Buffers.
    func encoded() throws(StatusError) -> [UInt8]
}
