import DocumentModel
import DocumentStore
import HearthAPI
import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@Suite("Database parameter")
struct DatabaseParameterTests {
    @Test
    func `Every method accepts the parameter, and reads create no database`() async throws {
        try await withService { service in
            let epoch = service.context.store.position.epoch
            for method in HearthMethods.table.methods where method.requiredPermission == Role.reader.rawValue {
                for database in ["(default)", "hearth/(default)", epoch, "other", "shop/tests"] {
                    let response = try await service.response(to: method.name.string, #"{"database": "\#(database)"}"#)
                    // The only permitted error is a missing required parameter.
                    let reason = response["error"]?["data"]?["reason"]?.string
                    #expect(
                        response["error"] == nil
                            || reason.map { $0.hasSuffix("is required") || $0.hasPrefix("expected exactly one of") } == true,
                        "\(method.name)"
                    )
                }
            }
            #expect(try await service.databaseNames() == ["hearth/(default)"])
        }
    }

    @Test(
        arguments: ["other", "hearth/other", "shop/(default)", "é/a b", "(Default)"]
    )
    func `The parameter selects the database of reads and writes`(name: String) async throws {
        try await withService { service in
            try await service.result(
                of: "documents.set",
                #"{"path": "a/b", "fields": {"in": "another"}, "database": "\#(name)"}"#
            )
            try await service.result(of: "documents.set", #"{"path": "a/b", "fields": {"in": "default"}}"#)
            for (database, content) in [(name, "another"), ("(default)", "default")] {
                let fields = try await service.member(
                    "fields",
                    of: "documents.get",
                    #"{"path": "a/b", "database": "\#(database)"}"#
                )
                #expect(fields == #"{"in":"\#(content)"}"#)
            }
        }
    }

    @Test(
        arguments: ["", "/", "a/", "/b", "a/b/c", "..", "a/.", "projects/p/databases/d", String(repeating: "x", count: 81)]
    )
    func `Invalid names are rejected`(name: String) async throws {
        try await withService { service in
            let params = #"{"path": "a/b", "fields": {}, "database": "\#(name)"}"#
            let error = try #require(try await service.response(to: "documents.set", params)["error"])
            #expect(error["data"]?["status"]?.string == "INVALID_ARGUMENT")
            #expect(error["data"]?["parameter"]?.string == "params.database")
            #expect(try await service.databaseNames() == ["hearth/(default)"])
        }
    }

    @Test
    func `On a server with one database, other names are not found`() async throws {
        try await withMemoryService { service in
            let error = try await service.response(to: "documents.list", #"{"collection": "a", "database": "other"}"#)["error"]
            #expect(error?["data"]?["status"]?.string == "NOT_FOUND")
            #expect(error?["message"]?.string?.contains("(default)") == true)
        }
    }

    @Test
    func `The description of every method has the parameter and its errors`() throws {
        for method in HearthMethods.table.methods {
            #expect(method.parameters.last?.name == "database", "\(method.name)")
            for status in [StatusCode.invalidArgument, .notFound, .resourceExhausted, .dataLoss] {
                #expect(method.errors.contains { $0.code.rawValue == status.rawValue }, "\(method.name)")
            }
        }
    }
}

extension TemporaryService {
    /// Returns the names of all databases.
    func databaseNames() async throws -> [String] {
        let result = try await result(of: "databases.list", "{}")
        return try JSONText(result).root["databases"]?.elements?.compactMap { $0["name"]?.string } ?? []
    }
}
