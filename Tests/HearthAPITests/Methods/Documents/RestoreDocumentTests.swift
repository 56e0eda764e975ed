import DocumentModel
import Foundation
import HearthAPI
import StrictJSON
import Testing
import UTF8Text

@Suite("documents.restore") struct RestoreDocumentTests {
    private func commitTimes(in service: TemporaryService) async throws -> [String] {
        let page = try JSONText(try await service.result(of: "documents.history", #"["a/b"]"#)).root
        return page["versions"]?.elements?.compactMap { $0["commitTime"]?.string } ?? []
    }

    private func fields(in service: TemporaryService) async throws -> String? {
        try await service.member("fields", of: "documents.get", #"["a/b"]"#)
    }

    @Test
    func `A version is restored by its commit time, and a deleted document to its last version`() async throws {
        try await withService { service in
            for number in 1...3 { try await service.result(of: "documents.set", #"["a/b", {"n": \#(number)}]"#) }
            let times = try await commitTimes(in: service)
            try await service.result(of: "documents.restore", #"["a/b", "\#(times[2])"]"#)
            #expect(try await fields(in: service) == #"{"n":1}"#)
            try await service.result(of: "documents.delete", #"["a/b"]"#)
            try await service.result(of: "documents.restore", #"["a/b"]"#)
            #expect(try await fields(in: service) == #"{"n":1}"#)
            #expect(try await commitTimes(in: service).count == 6)
        }
    }

    @Test
    func `A damaged file, which other writes do not replace, is restored to the last commit or to an earlier one`() async throws {
        try await withService { service in
            for number in 1...2 { try await service.result(of: "documents.set", #"["a/b", {"n": \#(number)}]"#) }
            let times = try await commitTimes(in: service)
            for (params, expected) in [(#"["a/b"]"#, 2), (#"["a/b", "\#(times[1])"]"#, 1)] {
                try Data("{".utf8).write(to: URL(filePath: service.folder + "/documents/a/b.json"))
                for (method, params) in [("documents.set", #"["a/b", {}]"#), ("documents.delete", #"["a/b"]"#)] {
                    let error = try await service.response(to: method, params)["error"]
                    #expect(error?["data"]?["status"]?.string == "DATA_LOSS")
                }
                let stale = #"{"path": "a/b", "precondition": {"updateTime": "2020-01-01T00:00:00.000000Z"}}"#
                let error = try await service.response(to: "documents.restore", stale)["error"]
                #expect(error?["data"]?["status"]?.string == "FAILED_PRECONDITION")
                try await service.result(of: "documents.restore", params)
                #expect(try await fields(in: service) == #"{"n":\#(expected)}"#)
            }
        }
    }

    @Test(arguments: [#"["a/b"]"#, #"["a/c"]"#, #"["a/b", "2020-01-01T00:00:00.000000Z"]"#])
    func `A version that is not retained is not found`(params: String) async throws {
        try await withMemoryService { service in
            try await service.result(of: "documents.delete", #"["a/b"]"#)
            let error = try await service.response(to: "documents.restore", params)["error"]
            #expect(error?["data"]?["status"]?.string == "NOT_FOUND")
            #expect(error?["message"]?.string?.contains("documents.history") == true)
        }
    }
}
