import DocumentModel
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Activity page")
struct ActivityPageTests {
    /// Records ten minutes of activity before the site's time, with a pause of two minutes in the middle.
    static func record(on site: TestSite) throws {
        let history = site.pages.context.server.metrics.history
        let now = site.pages.dependencies.now().microseconds / 1_000_000
        let clock = ContinuousClock.now
        var counts = ActivityCounts()
        for second in stride(from: 0, through: 600, by: 10) where !(250..<370).contains(second) {
            counts.reads += 20
            counts.writes += UInt64(second)
            counts.failures += 3
            counts.serverErrors += 1
            counts.latencies = LatencyCounts((0..<14).map { UInt64($0 == 3 ? second : 0) })
            let gauges = ActivityGauges(
                streams: second / 100,
                targets: 7,
                documentBytes: 3 << 20,
                journalBytes: 16 << 20,
                freeBytes: nil
            )
            history.record(
                ActivityReading(counts: counts, gauges: gauges),
                at: try Timestamp(microseconds: (now - 600 + Int64(second)) * 1_000_000),
                clock: clock + .seconds(second)
            )
        }
    }

    @Test
    func `Charts show rates with gaps where the server did not run, and their values as tables`() async throws {
        try await TestSite.with { site in
            try Self.record(on: site)
            let page = try await site.page("/admin/activity")
            #expect(page.parseErrors == [])
            #expect(try page.texts("//figure[@class='chart']//h2").count == 8)
            let path = try #require(try page.one("//figure[@id='reads']/div/svg/path[@class='line style-1']")["d"])
            // Two runs: before and after the pause.
            #expect(path.split(separator: "M").count == 2)
            // 24 and 23 slots with two reads per second, on a scale up to 2.
            #expect(path.split(separator: "L").count == 46)
            #expect(path.hasSuffix(" 0"))
            #expect(try page.one("//figure[@id='reads']//*[@class='legend']//b").text == "2")
            #expect(try page.texts("//figure[@id='errors']//li/b") == ["0.2", "0.1"])
            #expect(try page.texts("//figure[@id='latency']//li/b") == ["3.8 ms", "4.9 ms", "5 ms"])
            #expect(try page.texts("//figure[@id='storage']//li/b") == ["3,072 KiB", "16 MiB"])
            #expect(try page.texts("//figure[@id='disk']//li/b") == ["–"])
            // The samples begin at 04:54:06 and end at 05:04:06; the pause is from 04:58:06 to 05:00:16.
            let minutes = ["05:04", "05:03", "05:02", "05:01", "05:00", "04:58", "04:57", "04:56", "04:55", "04:54"]
            #expect(
                try page.texts("//figure[@id='reads']//tbody/tr/th") == minutes.map { "2026-01-02 \($0):00 UTC" }
            )
            #expect(try page.texts("//figure[@id='reads']//tbody/tr/td") == minutes.map { _ in "2" })
        }
    }

    @Test
    func `Every chart has a title and a summary for screen readers`() async throws {
        try await TestSite.with { site in
            try Self.record(on: site)
            let page = try await site.page("/admin/activity?span=day")
            for svg in try page.all("//svg[@role='img']") {
                let ids = try #require(svg["aria-labelledby"]).split(separator: " ")
                #expect(ids.count == 2)
                for id in ids { #expect(try !page.one("//*[@id='\(id)']").text.isEmpty) }
            }
            let summary = try page.one("//desc[@id='streams-summary']").text
            #expect(summary == "Streams: latest 6, peak 6. Listeners: latest 7, peak 7.")
            #expect(try page.one("//ul[@class='spans']//a[@aria-current]")["href"] == "/admin/activity?span=day")
        }
    }

    @Test
    func `Without samples, the page draws nothing`() async throws {
        try await TestSite.with { site in
            for span in ["", "?span=hour", "?span=week", "?span=x"] {
                let page = try await site.page("/admin/activity\(span)")
                #expect(try page.all("//figure").isEmpty)
                #expect(try page.all("//p[@class='empty']").count == 1)
            }
        }
    }

    @Test(arguments: ["/admin/activity", "/admin/activity/slow-calls", "/admin/log", "/admin/backups"])
    func `Only admins see the pages about the server`(address: String) async throws {
        try await TestSite.with { site in
            for attributes in [
                try APIKey.Attributes(role: .reader), try .init(role: .writer),
                try .init(role: .writer, collections: [CollectionPath("books")]),
            ] {
                let (_, text) = try await site.keys.create(attributes)
                let caller = try site.keys.authenticate(Array(text.utf8))
                #expect(await site.get(address, as: caller).status == .forbidden)
                let overview = try HTMLPage(await site.get("/admin/", as: caller).body)
                #expect(try overview.all("//a[starts-with(@href, '/admin/activity')]").isEmpty)
            }
            let (_, text) = try await site.keys.create(.init(role: .admin))
            let admin = try site.keys.authenticate(Array(text.utf8))
            let page = try HTMLPage(await site.get(address, as: admin).body)
            #expect(page.parseErrors == [])
            #expect(try page.one("//nav[@class='views']//a[@aria-current='page']")["href"] == address)
            // One of the pages is linked from everywhere, and links to the others.
            let overview = try HTMLPage(await site.get("/admin/", as: admin).body)
            #expect(try overview.all("//a[@href='/admin/activity']").count == 1)
            #expect(await site.get(address, as: .unauthenticated).status == .unauthorized)
            #expect(await site.get(address, as: .anonymous).status == .forbidden)
        }
    }

    @Test(
        arguments: [
            (0.0, "0"), (0.0004, "0"), (0.0278, "0.028"), (0.0996, "0.1"), (0.25, "0.25"), (0.996, "1"), (9.94, "9.9"),
            (99.96, "100"),
            (123.4, "123"), (12_345.6, "12,346"), (-0.001, "0"), (1e17, "100,000,000,000,000,000"),
            (0x1p63, "9,223,372,036,854,775,807"), (.infinity, "9,223,372,036,854,775,807"), (.nan, "0"),
        ]
    )
    func `Numbers have at most three significant digits`(value: Double, text: String) {
        #expect(NumberFormat.short(value) == text)
    }

    @Test
    func `Decimal separators are those of the language`() {
        Translations.$current.withValue(Translations(language: .russian)) { #expect(NumberFormat.short(1.5) == "1,5") }
        Translations.$current.withValue(Translations(language: .persian)) { #expect(NumberFormat.short(1.5) == "۱٫۵") }
    }

    @Test(
        arguments: [
            (.rate, 0, 0.01), (.rate, 0.028, 0.05), (.rate, 1.2, 2), (.rate, 30, 50), (.rate, 50, 50), (.count, 0, 2),
            (.count, 1, 2),
            (.count, 3, 4), (.count, 5, 10), (.count, 120, 200), (.seconds, 0.0042, 0.005), (.bytes, 3_000_000, 4_194_304),
            (.bytes, 1, 1_024), (.bytes, 0x1p62, 0x1p62), (.bytes, 0x1.8p62, 0x1p63), (.count, 0x1p63, 1e19),
        ] as [(ChartUnit, Double, Double)]
    )
    func `The scale of a chart ends at a round number`(unit: ChartUnit, value: Double, limit: Double) {
        #expect(abs(unit.limit(above: value) - limit) <= limit * 1e-12)
        #expect(!unit.text(limit).isEmpty && !unit.text(limit / 2).isEmpty)
    }

    @Test(arguments: [(0x1p62, "4,294,967,296 GiB"), (0x1p63, "8,589,934,591 GiB"), (.infinity, "8,589,934,591 GiB")])
    func `Sizes beyond those of any disk are shown`(value: Double, text: String) {
        #expect(ChartUnit.bytes.text(value) == text)
    }

    @Test
    func `The page shows gauges of any size`() async throws {
        try await TestSite.with { site in
            let history = site.pages.context.server.metrics.history
            let (now, clock) = (site.pages.dependencies.now(), ContinuousClock.now)
            let gauges = ActivityGauges(streams: .max, targets: .max, documentBytes: .max, journalBytes: 0, freeBytes: .max)
            for second in [0, 10] {
                history.record(
                    ActivityReading(counts: ActivityCounts(), gauges: gauges),
                    at: try Timestamp(microseconds: now.microseconds + Int64(second - 10) * 1_000_000),
                    clock: clock + .seconds(second)
                )
            }
            let page = try await site.page("/admin/activity")
            #expect(try page.texts("//figure[@id='disk']//li/b") == ["8,589,934,591 GiB"])
            #expect(try page.texts("//figure[@id='streams']//li/b") == Array(repeating: "9,223,372,036,854,775,807", count: 2))
        }
    }

    @Test
    func `The latest value is that of the latest sample, and none if that has none`() async throws {
        try await TestSite.with { site in
            let history = site.pages.context.server.metrics.history
            let (now, clock) = (site.pages.dependencies.now(), ContinuousClock.now)
            var counts = ActivityCounts()
            for second in [0, 10, 20] {
                counts.reads += 50
                if second == 10 { counts.latencies = LatencyCounts((0..<14).map { $0 == 3 ? 7 : 0 }) }
                let gauges = ActivityGauges(
                    streams: 1,
                    targets: second < 20 ? 3 : nil,
                    documentBytes: nil,
                    journalBytes: nil,
                    freeBytes: nil
                )
                history.record(
                    ActivityReading(counts: counts, gauges: gauges),
                    at: try Timestamp(microseconds: now.microseconds + Int64(second - 40) * 1_000_000),
                    clock: clock + .seconds(second)
                )
            }
            let page = try await site.page("/admin/activity")
            #expect(try page.texts("//figure[@id='reads']//li/b") == ["5"])
            #expect(try page.texts("//figure[@id='streams']//li/b") == ["1", "–"])
            #expect(try page.texts("//figure[@id='latency']//li/b") == ["–", "–", "–"])
            #expect(try page.texts("//figure[@id='latency']//li/span")[0] != "peak –")
        }
    }

    @Test
    func `Times below the charts of a week are midnights, and others equally far apart`() async throws {
        try await TestSite.with { site in
            try Self.record(on: site)
            let week = try await site.page("/admin/activity?span=week")
            // The span ends on 2026-01-02 at 05:04.
            #expect(try week.texts("//figure[@id='reads']//svg[@class='ticks']/text") == ["12-28", "12-30", "01-01"])
            let hour = try await site.page("/admin/activity")
            let ticks = try hour.all("//figure[@id='reads']//svg[@class='ticks']/text")
            #expect(ticks.map(\.text) == ["04:04", "04:19", "04:34", "04:49", "05:04"])
            #expect(ticks.map { $0["x"] } == ["0.0%", "25.0%", "50.0%", "75.0%", "100.0%"])
        }
    }
}
