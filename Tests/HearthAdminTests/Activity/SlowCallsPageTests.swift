import DocumentModel
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Slow calls page")
struct SlowCallsPageTests {
    @Test
    func `While slow calls are not recorded, the page tells how to switch that on`() async throws {
        try await TestSite.with { site in
            let page = try await site.page("/admin/activity/slow-calls")
            #expect(page.parseErrors == [])
            #expect(try page.texts("//pre") == ["hearth serve --slow-call-ms 500", #""slowCallMs": 500"#])
            #expect(try page.all("//table").isEmpty)
            site.pages.context.server.slowCalls.threshold = .milliseconds(250)
            let on = try await site.page("/admin/activity/slow-calls")
            #expect(try on.all("//pre").isEmpty)
            #expect(try on.texts("//p[@class='empty']") == ["No slow calls since the server started."])
        }
    }

    @Test
    func `Slow calls are listed newest first, with duration, caller, plan and cost`() async throws {
        try await TestSite.with { site in
            let log = site.pages.context.server.slowCalls
            log.threshold = .milliseconds(250)
            let (_, text) = try await site.keys.create(.init(role: .reader, label: "<app>"))
            let caller = try site.keys.authenticate(Array(text.utf8))
            let trace = RequestTrace(requestID: "r1")
            let path = try CollectionPath("books")
            let context = site.pages.context.withCaller(caller)
            await RequestTrace.$current.withValue(trace) {
                let query = StructuredQuery(.collection(path))
                _ = try? await RunQuery.call(.init(NormalizedQuery(query)), in: context)
                trace.update { ($0.caller, $0.database, $0.clientAddress) = (caller, .standard, "192.0.2.7") }
            }
            for (number, facts) in [trace.facts, RequestTrace(requestID: "r2").facts].enumerated() {
                log.add(
                    .init(
                        time: site.pages.dependencies.now(),
                        duration: .milliseconds(1_234 * (number + 1)),
                        request: number == 0 ? "POST /rpc" : "GET /admin/data/books",
                        status: number == 0 ? 200 : 503,
                        requestID: "r\(number)",
                        facts: facts
                    )
                )
            }
            let admin = try site.keys.authenticate(Array(try await site.keys.create(.init(role: .admin)).text.utf8))
            let page = try HTMLPage(await site.get("/admin/activity/slow-calls", as: admin).body)
            #expect(page.parseErrors == [])
            #expect(try page.texts("//tbody/tr/td[1]") == ["2.5 s", "1.2 s"])
            let calls = try page.texts("//tbody/tr/th")
            #expect(calls[0].hasPrefix("GET /admin/data/books") && calls[1].hasPrefix("POST /rpc"))
            #expect(try page.texts("//tbody/tr/th/span[@class='type unusual']") == ["503"])
            #expect(try page.texts("//tbody/tr[2]/td[3]") == ["<app>"])
            #expect(try page.texts("//tbody/tr[2]/td[4]") == ["hearth/(default)"])
            #expect(try !page.texts("//tbody/tr[2]/td[@class='plan']//li").isEmpty)
            #expect(try page.texts("//tbody/tr[2]/td[5]/span") == ["Index entries: 0 · Documents read: 0"])
        }
    }

    @Test
    func `The latest hundred slow calls are kept`() {
        let log = SlowCallLog()
        for number in 1...250 {
            log.add(
                .init(
                    time: .minimum,
                    duration: .seconds(number),
                    request: "GET /",
                    status: 200,
                    requestID: "\(number)",
                    facts: RequestTrace(requestID: "").facts
                )
            )
        }
        #expect(log.entries.map(\.requestID) == (151...250).map { "\($0)" })
    }
}
