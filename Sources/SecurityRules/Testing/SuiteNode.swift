internal import DocumentModel
internal import StrictJSON
internal import UTF8Text

/// A value in the JSON of a test suite, with its path for errors.
struct SuiteNode: Sendable {
    let json: JSONNode
    /// The path, such as `testCases[2].request.auth`; empty for the whole suite.
    let path: String

    /// Creates the node of a whole text.
    init(_ text: JSONText) {
        self.init(text.root, "")
    }

    private init(_ json: JSONNode, _ path: String) {
        self.json = json
        self.path = path
    }

    /// Returns the node of a member with a given value.
    func member(_ key: UTF8Key, _ json: JSONNode) -> SuiteNode {
        let isName = key.utf8.allSatisfy(\.isIdentifierPart) && key.utf8.first?.isIdentifierStart == true
        guard isName else { return SuiteNode(json, "\(path)[\(Excerpt(key.string))]") }
        let name = key.string.excerpt
        return SuiteNode(json, path.isEmpty ? name : "\(path).\(name)")
    }

    /// Returns the node of a member, or `nil` if there is none.
    subscript(key: UTF8Key) -> SuiteNode? { json[key].map { member(key, $0) } }

    /// Returns the node of a member, or `nil` if there is none or if it is null.
    func nonNull(_ key: UTF8Key) -> SuiteNode? { self[key].flatMap { $0.json.isNull ? nil : $0 } }

    /// Returns the node of a member that must be there.
    func required(_ key: UTF8Key) throws(StatusError) -> SuiteNode {
        guard let node = self[key] else { throw error("Expected a member \(Excerpt(key.string)).") }
        return node
    }
}

extension SuiteNode {
    /// Returns an error about the value.
    func error(_ message: String) -> StatusError {
        let (line, column) = json.position()
        var error = StatusError(.invalidArgument, "\(message) (Line \(line), column \(column) of the JSON.)")
        if !path.isEmpty { error.parameterPath = path }
        return error
    }

    /// Returns an error about a value of another kind.
    func expected(_ expectation: String) -> StatusError {
        let found =
            switch json.kind {
            case .null: "null"
            case .boolean: "a boolean"
            case .number: "a number"
            case .string: "the string \(Excerpt(json.string ?? ""))"
            case .array: "an array"
            case .object: "an object"
            }
        return error("Expected \(expectation), found \(found).")
    }

    /// Calls `body`, and gives its error the path and the position of the value.
    func locating<Result>(_ body: () throws(StatusError) -> Result) throws(StatusError) -> Result {
        do throws(StatusError) {
            return try body()
        } catch {
            let inner = error.parameterPath ?? error.field ?? ""
            let separator = inner.isEmpty || inner.utf8.first == UInt8(ascii: "[") ? "" : "."
            // The message of an error inside of a decoded value has the position.
            var located = error.sourceLocation == nil ? self.error(error.message) : error
            located.parameterPath = path + separator + inner
            located.field = nil
            throw located
        }
    }
}

extension SuiteNode {
    /// Checks that the value is an object without members other than the named ones.
    func checkMembers(_ names: [UTF8Key]) throws(StatusError) {
        guard let members = json.members else { throw expected("an object") }
        for (key, value) in members where !names.contains(key) {
            let known = names.map(\.string).joined(separator: ", ")
            throw member(key, value).error("Unknown member. Expected one of \(known).")
        }
    }

    /// The members of an object.
    func members() throws(StatusError) -> [(key: UTF8Key, value: SuiteNode)] {
        guard let members = json.members else { throw expected("an object") }
        return members.map { (key: $0.key, value: member($0.key, $0.value)) }
    }

    /// The elements of an array.
    func elements() throws(StatusError) -> [SuiteNode] {
        guard let elements = json.elements else { throw expected("an array") }
        return elements.enumerated().map { SuiteNode($1, "\(path)[\($0)]") }
    }

    /// The string.
    func string(_ expectation: String = "a string") throws(StatusError) -> String {
        guard let string = json.string else { throw expected(expectation) }
        return string
    }

    /// The integer, which must be at least 0.
    func count() throws(StatusError) -> Int {
        guard case .integer(let number)? = json.number, number >= 0 else { throw expected("an integer of at least 0") }
        return Int(number)
    }

    /// The value with a name.
    func named<Result: RawRepresentable<String> & CaseIterable>(_ type: Result.Type) throws(StatusError) -> Result {
        guard let name = json.string, let value = Result(rawValue: name) else {
            throw expected("one of " + Result.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return value
    }

    /// The fields of a document.
    func fields() throws(StatusError) -> MapValue {
        try locating { () throws(StatusError) in try MapValue(json: json) }
    }

    /// The value in JSON or with a tag, such as `{"$timestamp": …}`.
    func value() throws(StatusError) -> Value {
        try locating { () throws(StatusError) in try Value(json: json) }
    }

    /// The field path.
    func fieldPath() throws(StatusError) -> FieldPath {
        let text = try string("a field path")
        return text == "__name__" ? .documentName : try locating { () throws(StatusError) in try FieldPath(text) }
    }
}
