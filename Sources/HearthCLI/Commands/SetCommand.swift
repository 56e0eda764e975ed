import ArgumentParser
import DocumentModel
import HearthAPI
import HearthTransport
import StrictJSON

/// `hearth set`
struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Write a document.",
        discussion: """
            FIELDS is a JSON object, @FILE to read it from a file, or - to read standard input. Types without a JSON equivalent \
            are tagged: \
            {"$timestamp": "1843-01-01T16:58:32Z"}, {"$bytes": "<base64>"}, {"$reference": "books/hitchhiker"}, \
            {"$geoPoint": {"latitude": 53.55, "longitude": 9.98}}, {"$vector": [0.1, 0.2]}, {"$double": "NaN"}. \
            1 is an integer, 1.0 a double.

            Creates the document or replaces it. With --merge, changes only the given fields. Prints the update time.
            """
    )

    @OptionGroup var server: DatabaseOptions

    @Flag(help: "Merge the fields into an existing document instead of replacing it.")
    var merge = false

    @Argument(help: "Document path, such as books/hitchhiker.", transform: DocumentPath.argument)
    var path: DocumentPath

    @Argument(help: "Fields: JSON, @FILE or -.")
    var fields: String

    func validate() throws {
        do throws(StatusError) {
            if input == nil { _ = try readFields() }
        } catch {
            throw ValidationError("\(error)")
        }
    }

    func run() async throws {
        let fields = try readFields()
        let result = try await server.withConnection { try await $0.set(path, fields, merge: merge ? .all : .none) }
        guard let time = result.updateTime else { return }
        var output = BufferedOutput.standard()
        try output.writeLine("{\"updateTime\":\"\(time.rfc3339)\"}".utf8)
        try output.flush()
    }

    /// The path of the file with the fields; `nil` if the argument is the JSON itself.
    private var input: String? { InputFile.path(ofArgument: fields) }

    private func readFields() throws(StatusError) -> MapValue {
        guard let input else { return try MapValue(text: Array(fields.utf8), name: "The fields", at: path) }
        let file = try InputFile(input)
        return try MapValue(text: file.readToEnd(maximumBytes: DocumentExportLine.maximumBytes), name: file.name, at: path)
    }
}

extension MapValue {
    /// Parses and validates the fields of a document. `name` identifies the input in error messages.
    fileprivate init(text: [UInt8], name: String, at path: DocumentPath) throws(StatusError) {
        let json: JSONNode
        do {
            json = try JSONText(text, limits: JSONLimits(maximumBytes: DocumentExportLine.maximumBytes)).root
        } catch {
            throw StatusError(.invalidArgument, "\(name): invalid JSON: \(error).", path: path.string)
        }
        guard json.kind == .object else {
            throw StatusError(.invalidArgument, "\(name): expected a JSON object, found \(json.kind).", path: path.string)
        }
        do {
            self = try MapValue(json: json)
            try Document.validate(self, at: path)
        } catch {
            var error = error
            error.path = path.string
            throw error
        }
    }
}
