import Testing

@testable import DocumentIndex

@Suite("The headroom of the index on a disk")
struct DiskHeadroomTests {
    @Test(
        arguments: [
            (1_000_000, 500_000, .ample), (1_000_000, 256, .ample), (1_000_000, 255, .low), (1_000_000, 8, .low),
            (1_000_000, 7, .exhausted), (128, 127, .low), (128, 4, .low), (128, 3, .exhausted), (0, 0, .ample),
        ] as [(Int, Int, DiskHeadroom)]
    )
    func `The last free space is reserved for documents`(totalMegabytes: Int, freeMegabytes: Int, expected: DiskHeadroom) {
        #expect(DiskHeadroom(on: (totalMegabytes << 20, freeMegabytes << 20)) == expected)
    }
}
