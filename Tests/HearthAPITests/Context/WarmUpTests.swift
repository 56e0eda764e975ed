import DocumentStore
import HearthAPI
import Logging
import StrictJSON
import Testing
import UTF8Text

@Suite("The warm-up")
struct WarmUpTests {
    @Test(arguments: [#"{"x":1}"#, nil])
    func `The calls succeed, and change nothing`(fields: String?) async throws {
        try await withService { service in
            if let fields {
                try await service.result(of: "documents.set", #"{"path":"it\"ems/a","fields":\#(fields)}"#)
            }
            let position = service.context.store.position
            let bodies = WarmUp.calls(of: #"it"ems"#)
            #expect(bodies.count > 5)
            for body in bodies {
                let call = try JSONText(body).root
                let method = try #require(call["method"]?.string)
                let params = try #require(call["params"])
                try await service.result(of: method, String(decoding: params.rawBytes, as: UTF8.self))
            }
            await WarmUp.run(in: service.context, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            #expect(service.context.store.position == position)
        }
    }
}
