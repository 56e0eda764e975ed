package import StrictJSON

/// The JSON text of a configuration file, whose errors have their location in it.
package struct ConfigurationJSON: Sendable {
    /// The top-level value.
    package let root: JSONNode
    private let path: String

    private static let limits = JSONLimits(maximumBytes: 1 << 20, maximumDepth: 8)

    /// Parses a file.
    ///
    /// - Parameters:
    ///   - name: The name of the configuration in errors, at the beginning of a sentence.
    ///   - path: The path of the file, for errors.
    /// - Throws: ``StatusCode/invalidArgument`` with the location of the first syntax error.
    package init(_ bytes: [UInt8], name: String, path: String) throws(StatusError) {
        do throws(JSONSyntaxError) {
            root = try JSONText(bytes, limits: Self.limits).root
        } catch {
            throw StatusError(
                .invalidArgument,
                "\(name) is not valid JSON: \(error).",
                file: StatusError.FileLocation(path: path, line: error.line, column: error.column)
            )
        }
        self.path = path
    }

    /// Returns an error about a value of the file, with its location.
    package func error(_ message: String, at node: JSONNode) -> StatusError {
        let (line, column) = node.position()
        return StatusError(
            .invalidArgument,
            message,
            file: StatusError.FileLocation(path: path, line: line, column: column)
        )
    }
}
