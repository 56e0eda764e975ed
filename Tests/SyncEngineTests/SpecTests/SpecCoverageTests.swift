import Testing

@Suite("Coverage of the spec tests")
struct SpecCoverageTests {
    @Test
    func `All tests of the copied files are replayed or skipped for a known reason`() {
        #expect(SpecTest.all.count == 239)
        var skipped: [SpecTest.SkipReason: Int] = [:]
        for reason in SpecTest.all.compactMap(\.reasonToSkip) { skipped[reason, default: 0] += 1 }
        #expect(skipped == [.severalClients: 74, .existenceFilter: 5, .pendingInCache: 2])
        #expect(SpecTest.replayed.count == 158)
    }

    @Test(arguments: [
        ("bundle", 7), ("collection", 2), ("garbage_collection", 5), ("limbo", 17), ("limit", 11), ("listen", 38),
        ("listen_source", 10), ("offline", 10), ("orderby", 2), ("persistence", 8), ("query", 3), ("remote_store", 4),
        ("resume_token", 2), ("write", 39),
    ])
    func `The tests of each file are replayed`(in file: String, count: Int) {
        #expect(SpecTest.replayed.filter { $0.file == file }.count == count)
    }
}
