import ArgumentParser
import DocumentModel
import StrictJSON

/// A query argument: JSON, `@FILE` to read it from a file, or `-` to read standard input.
struct QueryArgument {
    private let text: String

    /// The maximum size of a query.
    private static let maximumBytes = 16 << 20

    init(_ text: String) {
        self.text = text
    }

    /// Validates a query given as JSON on the command line.
    func validate() throws {
        guard InputFile.path(ofArgument: text) == nil else { return }
        do throws(StatusError) {
            _ = try read()
        } catch {
            throw ValidationError("\(error)")
        }
    }

    /// Reads and parses the query, which must be a JSON object.
    func read() throws(StatusError) -> JSONText {
        var name = "The query"
        var bytes = Array(text.utf8)
        if let path = InputFile.path(ofArgument: text) {
            let file = try InputFile(path)
            name = file.name
            bytes = try file.readToEnd(maximumBytes: Self.maximumBytes)
        }
        let json: JSONText
        do {
            json = try JSONText(bytes, limits: JSONLimits(maximumBytes: Self.maximumBytes))
        } catch {
            throw StatusError(.invalidArgument, "\(name): invalid JSON: \(error).")
        }
        guard json.root.kind == .object else {
            throw StatusError(.invalidArgument, "\(name): expected a JSON object, found \(json.root.kind).")
        }
        return json
    }
}
