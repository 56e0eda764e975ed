package import DocumentModel
package import StrictJSON
internal import UTF8Text

/// Test cases for security rules: requests with the decisions that are expected.
///
/// The JSON is a `TestSuite` of Google's Rules API:
///
/// ```json
/// {"testCases": [
///    {"expectation": "ALLOW",
///     "request": {"auth": {"uid": "alice", "token": {"email": "alice@example.org"}},
///                 "path": "/databases/(default)/documents/lists/1", "method": "get", "time": "2024-05-01T12:00:00Z"},
///     "resource": {"data": {"owner": "alice"}},
///     "functionMocks": [{"function": "get", "args": [{"exactValue": "/databases/(default)/documents/users/alice"}],
///                        "result": {"value": {"data": {"role": "editor"}}}}]}]}
/// ```
///
/// Beyond that:
/// - A case may have a `name`.
/// - A path may be relative to the documents of the database, as `lists/1`. All full paths are of one database.
/// - `documents` is a map of the paths of documents to their fields: of the suite for all cases, or of a case in addition; null in
///   a case is a document that does not exist. Rules read them by `get`, `exists` and so on, unless a mock has a result; and a
///   case without `resource` takes the stored document of its path from there.
/// - A `request` with a list `writes` instead of `method` and `path` is a commit:
///   `{"method": "create" | "update" | "set" | "delete", "path", "data"}`, with the whole document after the write as `data`.
///   It is allowed if all writes are. `getAfter` and `existsAfter` see the documents after all of them.
/// - A `list` of a collection's path decides a query, as a server does: for all documents that it may find. `query` has the
///   members of a query in Hearth's API: `where`, `orderBy`, `limit` and the others, except `findNearest`; `collectionGroup` or
///   `allDescendants` with the path of the parent document or of all documents. `orderBy` may also be an object as in rules,
///   `{"at": "DESC"}`. A `list` of a document's path decides about that document as a result, with `request.query`.
/// - The values in `data` are JSON; a number without fraction and exponent is an integer. Other types are tagged, as in Hearth's
///   API: `{"$timestamp": "2024-05-01T12:00:00Z"}`, `$bytes`, `$geoPoint`, `$reference`, `$double`, `$vector`, `$map`.
package struct RulesTestSuite: Sendable {
    /// The ID of the database that the paths name.
    let database: UTF8Key
    let cases: [RulesTestCase]

    /// Parses a suite.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the JSON path of an invalid value as the error's `parameterPath`.
    package init(_ text: JSONText) throws(StatusError) {
        var decoder = SuiteDecoder()
        cases = try decoder.decode(SuiteNode(text))
        database = decoder.database ?? DatabaseID.defaultDatabase
    }

    /// The number of cases.
    package var count: Int { cases.count }
}

/// A case of a test suite.
struct RulesTestCase: Sendable {
    /// The name, or a description of the request.
    var name: String
    /// True if the request is expected to be allowed.
    var expectation: Expectation
    var authentication: RulesRequest.Authentication?
    /// The time of the request; `nil` for that of the test.
    var time: Timestamp?
    /// The operation, or the writes of a commit.
    var operations: [RulesRequest.Operation]
    var documents: DocumentStates
    var mocks: [FunctionMock]
    var reportLevel: ReportLevel

    enum Expectation: String, Sendable, CaseIterable {
        case allow = "ALLOW"
        case deny = "DENY"
    }

    /// The expressions whose values the report of the case has.
    enum ReportLevel: String, Sendable, CaseIterable {
        case none = "NONE"
        case full = "FULL"
        /// Only those that were evaluated.
        case visited = "VISITED"
    }
}

/// The documents before and after the writes of a test case.
struct DocumentStates: Sendable {
    var before: [DocumentPath: MapValue] = [:]
    var after: [DocumentPath: MapValue] = [:]
}
