import DocumentStore
import HearthService
import JSONRPC
import StrictJSON
import Testing

/// Every method takes the name of the database.
@Suite struct DatabaseParameterTests {
    @Test("The default database and its epoch are accepted everywhere, another one nowhere")
    func names() async throws {
        try await withService { service in
            for method in HearthMethods.table.methods {
                for database in ["(default)", service.context.store.position.epoch] {
                    let response = try await service.response(to: method.name.string, #"{"database": "\#(database)"}"#)
                    // What is wrong is at most that other parameters are required, or one of several is.
                    let reason = response["error"]?["data"]?["reason"]?.string
                    #expect(
                        reason.map { $0.hasSuffix("is required") || $0.hasPrefix("expected exactly one of") } != false,
                        "\(method.name)"
                    )
                }
                guard !method.parameters.contains(where: \.isRequired) else { continue }
                let error = try await service.response(to: method.name.string, #"{"database": "other"}"#)["error"]
                #expect(error?["code"]?.number == .integer(5), "\(method.name)")
            }
        }
    }

    @Test(
        "Another database is not found, and the error says what to do",
        arguments: ["other", "", "(Default)", "(default)\u{301}"]
    )
    func another(name: String) async throws {
        try await withService { service in
            let error = try #require(
                try await service.response(to: "documents.set", #"{"path": "a/b", "fields": {}, "database": "\#(name)"}"#)[
                    "error"
                ]
            )
            #expect(error["code"]?.number == .integer(5))
            #expect(error["data"]?["status"]?.string == "NOT_FOUND")
            #expect(error["data"]?["parameter"]?.string == "params.database")
            #expect(error["message"]?.string?.contains("(default)") == true)
            #expect(try await service.result(of: "documents.list", #"["a"]"#) == #"{"documents":[]}"#)
        }
    }

    @Test("The description of every method has it, with its error")
    func description() throws {
        for method in HearthMethods.table.methods {
            #expect(method.parameters.last?.name == "database", "\(method.name)")
            #expect(method.errors.contains { $0.code == 5 }, "\(method.name)")
        }
    }
}
