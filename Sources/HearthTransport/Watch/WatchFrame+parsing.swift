internal import DocumentModel
internal import HearthWire

extension WatchFrame {
    /// Parses a frame that a server sent.
    ///
    /// - Throws: The error of an unexpected response.
    init(_ line: [UInt8], from server: ServerAddress) throws(StatusError) {
        do throws(StatusError) {
            try self.init(line: line)
        } catch {
            throw StatusError.unexpectedResponse(from: server, cause: error)
        }
    }
}
