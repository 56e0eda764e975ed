internal import DocumentModel
internal import StrictJSON
internal import UTF8Text

/// A decoder of the JSON of test suites.
struct SuiteDecoder {
    /// The ID of the database of the paths so far; `nil` if none names one.
    private(set) var database: UTF8Key?
    private var documents: [DocumentPath: MapValue] = [:]

    /// Decodes a suite.
    mutating func decode(_ suite: SuiteNode) throws(StatusError) -> [RulesTestCase] {
        try suite.checkMembers(["testCases", "documents"])
        if let node = suite["documents"] {
            for (path, fields) in try node.members() {
                documents[try documentPath(path.string, of: fields)] = try fields.fields()
            }
        }
        var cases: [RulesTestCase] = []
        for node in try suite.required("testCases").elements() { cases.append(try decodeCase(node)) }
        return cases
    }

    private mutating func decodeCase(_ node: SuiteNode) throws(StatusError) -> RulesTestCase {
        try node.checkMembers([
            "name", "expectation", "request", "resource", "functionMocks", "pathEncoding", "expressionReportLevel", "documents",
        ])
        let request = try node.required("request")
        try request.checkMembers(["auth", "path", "method", "time", "resource", "query", "writes"])
        let encoding = try node.nonNull("pathEncoding")?.named(PathEncoding.self) ?? .plain
        let user = try request.nonNull("auth").map { auth throws(StatusError) in try Self.authentication(auth) }
        let time = try request.nonNull("time").map { time throws(StatusError) in
            let text = try time.string("a time in RFC 3339 format")
            return try time.locating { () throws(StatusError) in try Timestamp(rfc3339: text) }
        }
        var builder = OperationBuilder(documents: try documents(of: node))
        let description: String
        if request["writes"] == nil {
            description = try decodeOperation(node, request, encoding, &builder)
        } else {
            description = try decodeWrites(node, request, &builder)
        }
        let name = try node.nonNull("name")?.string() ?? "\(description) \(user.map { "as \($0.uid)" } ?? "without a user")"
        return RulesTestCase(
            name: name,
            expectation: try node.required("expectation").named(RulesTestCase.Expectation.self),
            authentication: user,
            time: time,
            operations: builder.operations,
            documents: builder.states,
            mocks: try mocks(of: node),
            reportLevel: try node.nonNull("expressionReportLevel")?.named(RulesTestCase.ReportLevel.self) ?? .none
        )
    }

    private static func authentication(_ node: SuiteNode) throws(StatusError) -> RulesRequest.Authentication {
        try node.checkMembers(["uid", "token"])
        let uid = try node.required("uid").string("the ID of the user")
        let claims: RuleMap
        if let token = node.nonNull("token") {
            guard case .map(let map) = RuleValue(token.json) else { throw token.expected("an object of claims") }
            claims = map
        } else {
            claims = RuleMap([])
        }
        return RulesRequest.Authentication(uid: UTF8Key(uid), token: claims)
    }

    /// Returns the documents of the suite with those of a case.
    private mutating func documents(of node: SuiteNode) throws(StatusError) -> [DocumentPath: MapValue] {
        var documents = documents
        for (path, fields) in try node.nonNull("documents")?.members() ?? [] {
            documents[try documentPath(path.string, of: fields)] = fields.json.isNull ? nil : try fields.fields()
        }
        return documents
    }

    private func mocks(of node: SuiteNode) throws(StatusError) -> [FunctionMock] {
        var mocks: [FunctionMock] = []
        for mock in try node.nonNull("functionMocks")?.elements() ?? [] {
            try mock.checkMembers(["function", "args", "result"])
            let name = try mock.required("function")
            guard let function = FunctionMock.functions.first(where: { $0.rawValue == name.json.string }) else {
                throw name.expected("one of " + FunctionMock.functions.map(\.rawValue).joined(separator: ", "))
            }
            let arguments = try mock.required("args")
            guard let argument = try arguments.elements().first, arguments.json.count == 1 else {
                throw arguments.error("Expected one argument, the path of a document; found \(arguments.json.count).")
            }
            try argument.checkMembers(["exactValue", "anyValue"])
            let path = try argument["exactValue"]?.string("the path of a document")
            guard path != nil || argument["anyValue"] != nil, argument.json.count == 1 else {
                throw argument.error("Expected either exactValue or anyValue.")
            }
            mocks.append(FunctionMock(function: function, path: path, result: try result(of: mock)))
        }
        return mocks
    }

    private func result(of mock: SuiteNode) throws(StatusError) -> RuleValue? {
        let result = try mock.required("result")
        try result.checkMembers(["value", "undefined"])
        guard result.json.count == 1 else { throw result.error("Expected either value or undefined.") }
        return try result["value"].map { value throws(StatusError) in
            RuleValue(try value.value(), in: database ?? DatabaseID.defaultDatabase)
        }
    }
}

extension SuiteDecoder {
    enum PathEncoding: String, CaseIterable {
        case plain = "PLAIN"
        case encoded = "URL_ENCODED"
    }

    /// Returns the path of a document.
    mutating func documentPath(
        _ text: String,
        _ encoding: PathEncoding = .plain,
        of node: SuiteNode
    ) throws(StatusError) -> DocumentPath {
        let path = try relativePath(text, encoding, of: node)
        return try node.locating { () throws(StatusError) in try DocumentPath(path) }
    }

    /// Returns a path relative to the documents of the database; empty for all documents.
    mutating func relativePath(
        _ text: String,
        _ encoding: PathEncoding,
        of node: SuiteNode
    ) throws(StatusError) -> String {
        guard text.utf8.first == UInt8(ascii: "/") else { return try Self.decode(text, encoding, of: node) }
        let segments = text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard segments.count >= 3, segments[0] == "databases", segments[2] == "documents", !segments[1].isEmpty else {
            throw node.error(
                "Expected a path such as /databases/(default)/documents/users/alice, or users/alice; found \(Excerpt(text))."
            )
        }
        let name = UTF8Key(try Self.decode(segments[1], encoding, of: node))
        guard database == nil || database == name else {
            throw node.error("Expected a path in one database with the others, \(database.map(\.string) ?? "").")
        }
        database = name
        return try Self.decode(segments.dropFirst(3).joined(separator: "/"), encoding, of: node)
    }

    private static func decode(_ text: String, _ encoding: PathEncoding, of node: SuiteNode) throws(StatusError) -> String {
        guard encoding == .encoded else { return text }
        // A slash in a segment stays one, and makes the path invalid or another one, so it is refused.
        guard let bytes = PercentEncoding.decode(text.utf8), let decoded = String(validating: bytes, as: UTF8.self),
            decoded.utf8.count(where: { $0 == UInt8(ascii: "/") }) == text.utf8.count(where: { $0 == UInt8(ascii: "/") })
        else { throw node.error("Expected percent-encoded UTF-8, found \(Excerpt(text)).") }
        return decoded
    }
}
