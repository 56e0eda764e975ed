import DocumentModel
import DocumentStore
import FileStore
import HTTPTypes
import HearthAPI
import Logging
import StorageIO
import TestSupport
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Jobs that servers share")
struct SharedJobTests {
    /// A record in a temporary folder, in place of one in an engine.
    private static func withRecord(_ body: (LockedAtomicFile) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        try await body(LockedAtomicFile.open(.activity, inFolder: folder.path))
    }

    private static func jobs(in record: LockedAtomicFile, at time: Timestamp = .current()) -> SharedJobs {
        SharedJobs(in: record, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) { time }
    }

    private static func job(_ id: UTF8Key, of caller: Caller = .openAccess) -> BackgroundJob {
        BackgroundJob(
            .editing,
            of: "books",
            in: .standard,
            id: id,
            for: Principal(caller: caller),
            returnURL: "/admin/data/books",
            at: .minimum,
            errors: .silent
        )
    }

    @Test
    func `A job is listed, shown and stopped on the pages of another server`() async throws {
        try await Self.withRecord { record in
            try await TestSite.with(sharedJobs: Self.jobs(in: record)) { site in
                try await TestSite.with(sharedJobs: Self.jobs(in: record)) { other in
                    let job = Self.job("j1")
                    try site.pages.jobRunner.start(job) { job throws(StatusError) in
                        job.update { ($0.completedCount, $0.totalCount) = (7, 10) }
                        while !job.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
                    }
                    while try await other.page("/admin/jobs").all("//tbody/tr").isEmpty {}
                    let page = try await other.page("/admin/jobs/j1")
                    #expect(page.parseErrors == [])
                    #expect(try page.one("//main").text.contains("The job runs on another server."))
                    #expect(await other.post("/admin/jobs/j1", "").status == .seeOther)
                    await job.wait(atMost: .seconds(600))
                    #expect(job.isCancelled)
                    while try await !other.page("/admin/jobs/j1").one("//main").text.contains("Stopped") {}
                    #expect(try await other.page("/admin/jobs/j1").one("//main").text.contains("7 documents changed"))
                    // It belongs to both lists, once.
                    for server in [site, other] { #expect(try await server.page("/admin/jobs").all("//tbody/tr").count == 1) }
                }
            }
        }
    }

    @Test
    func `A job whose server reports no more has ended with it`() async throws {
        try await Self.withRecord { record in
            let start = Timestamp.current()
            let job = Self.job("j1")
            job.update { $0.completedCount = 7 }
            await Self.jobs(in: record, at: start).report(job)
            for (seconds, isLost) in [(29, false), (31, true), (-31, true)] as [(Int64, Bool)] {
                let time = try Timestamp(microseconds: start.microseconds + seconds * 1_000_000)
                try await TestSite.with(sharedJobs: Self.jobs(in: record, at: time)) { site in
                    let page = try await site.page("/admin/jobs/j1")
                    #expect(try page.one("//main").text.contains("7 documents changed"))
                    #expect(try page.one("//main").text.contains("The server that ran the job has ended") == isLost)
                    #expect(try page.all("//button").contains { $0.text == "Stop" } == !isLost)
                }
            }
        }
    }

    @Test
    func `Only its caller and admins see a job of another server`() async throws {
        try await Self.withRecord { record in
            try await TestSite.with(sharedJobs: Self.jobs(in: record)) { site in
                func makeCaller(_ role: Role) async throws -> Caller {
                    try site.keys.authenticate(Array(try await site.keys.create(.init(role: role)).text.utf8))
                }
                let (owner, other) = (try await makeCaller(.writer), try await makeCaller(.writer))
                await Self.jobs(in: record).report(Self.job("j1", of: owner))
                for (caller, isVisible) in [(owner, true), (other, false), (try await makeCaller(.admin), true)] {
                    #expect((await site.get("/admin/jobs/j1", as: caller).status == .ok) == isVisible)
                    #expect((await site.post("/admin/jobs/j1", "", as: caller).status == .seeOther) == isVisible)
                }
            }
        }
    }

    @Test
    func `The record keeps what is shown of a job, cut to a limit`() throws {
        var progress = BackgroundJob.Progress()
        (progress.completedCount, progress.totalCount, progress.skippedCount) = (1, 2, 3)
        (progress.alreadyDeletedCount, progress.unchangedCount, progress.unmatchedCount) = (4, 5, 6)
        for number in 0..<300 {
            progress.itemErrors.append(BackgroundJob.ItemError(location: "line \(number)", message: "“<é>”"))
            let path = try DocumentPath("books/a long name \(number)")
            progress.keptPaths.append(path)
            progress.addCollection(try CollectionPath("c\(number)"))
        }
        (progress.isFinished, progress.failure) = (true, "It failed.")
        let entry = JobFile.Entry(
            kind: .importing,
            subject: "b.ndjson",
            database: .standard,
            key: "5f0c1e9ab3d2",
            returnURL: "/admin/data/c1",
            startTime: .minimum,
            reportTime: .minimum,
            isCancelled: true,
            progress: progress
        )
        var file = JobFile()
        file.report(entry, id: "j1")
        let entries = try JobFile(contents: file.encoded).entries
        let parsed = try #require(entries["j1"])
        let read = parsed.progress
        #expect(parsed.kind == .importing && parsed.subject == "b.ndjson" && parsed.database == .standard)
        #expect(parsed.key == "5f0c1e9ab3d2" && parsed.returnURL == "/admin/data/c1" && parsed.startTime == .minimum)
        #expect(parsed.isCancelled && read.isFinished && read.failure == "It failed.")
        #expect((read.completedCount, read.totalCount, read.skippedCount) == (1, 2, 3))
        #expect((read.alreadyDeletedCount, read.unchangedCount, read.unmatchedCount) == (4, 5, 6))
        #expect(read.itemErrors.count == 300 && (1..<300).contains(read.itemErrors.elements.count))
        #expect(read.itemErrors.elements.allSatisfy { $0.message == "“<é>”" })
        #expect(read.keptPaths.count == 300 && (1..<200).contains(read.keptPaths.elements.count))
        #expect((1...50).contains(read.collections.count) && read.hasMoreCollections)
    }

    @Test
    func `Any counts of another server are shown`() async throws {
        try await Self.withRecord { record in
            let now = Timestamp.current()
            let job = BackgroundJob(
                .deleting,
                of: "books",
                in: .standard,
                id: "j1",
                for: Principal(caller: .openAccess),
                returnURL: "/admin/",
                at: try Timestamp(rfc3339: "2025-01-01T00:00:00Z"),
                errors: .silent
            )
            job.update { ($0.completedCount, $0.totalCount) = (1, .max) }
            await Self.jobs(in: record, at: now).report(job)
            try await TestSite.with(sharedJobs: Self.jobs(in: record, at: now)) { site in
                for address in ["/admin/jobs", "/admin/jobs/j1"] { #expect(await site.get(address).status == .ok) }
            }
        }
    }

    @Test
    func `Old jobs leave the record, and finished ones before others`() throws {
        var file = JobFile()
        for number in 0..<250 as Range<Int64> {
            // Some of them are from the day before.
            let time = try Timestamp(microseconds: (number < 75 ? 0 : 86_400_000_000) + number)
            var progress = BackgroundJob.Progress()
            progress.isFinished = number % 2 == 0
            let entry = JobFile.Entry(
                kind: .deleting,
                subject: "",
                database: .standard,
                key: nil,
                returnURL: "/",
                startTime: .minimum,
                reportTime: time,
                isCancelled: false,
                progress: progress
            )
            file.report(entry, id: UTF8Key("\(number)"))
            if number == 74 { #expect(file.entries.count == 75) }
        }
        #expect(file.entries.count == 100 && file.entries.values.count { !$0.progress.isFinished } == 88)
    }

    @Test(arguments: ["", "{", #"{"format":1}"#, #"{"format":1,"jobs":[{}]}"#, #"{"format":1,"jobs":[1]}"#])
    func `A damaged record is replaced`(_ contents: String) async throws {
        try await Self.withRecord { record in
            _ = try await record.update { _ in Array(contents.utf8) }
            await Self.jobs(in: record).report(Self.job("j1"))
            #expect(try await Self.jobs(in: record).jobs(.silent).map(\.id) == ["j1"])
        }
    }

    @Test
    func `Jobs that a newer version has reported in another way stay in the record`() async throws {
        try await Self.withRecord { record in
            let unknown = #"{"id":"a","kind":"new"}"#
            _ = try await record.update { _ in Array(#"{"format":1,"jobs":[\#(unknown)]}"#.utf8) }
            let jobs = Self.jobs(in: record)
            await jobs.report(Self.job("j1"))
            #expect(try await jobs.jobs(.silent).map(\.id) == ["j1"])
            #expect(String(decoding: try await record.snapshot().bytes ?? [], as: UTF8.self).contains(unknown))
        }
    }

    @Test
    func `The record of a newer version is left as it is`() async throws {
        try await Self.withRecord { record in
            let contents = Array(#"{"format":2,"jobs":{}}"#.utf8)
            _ = try await record.update { _ in contents }
            let jobs = Self.jobs(in: record)
            await jobs.report(Self.job("j1"))
            #expect(try await jobs.jobs(.silent).isEmpty)
            #expect(try await record.snapshot().bytes == contents)
        }
    }
}
