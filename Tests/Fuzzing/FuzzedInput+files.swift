import Foundation
import FuzzedInputs

extension FuzzedInput {
    /// Writes the seed corpus, one file per input.
    static func writeSeeds(toFolder folder: String) throws {
        for (index, kind) in allCases.enumerated() {
            for (number, seed) in kind.seeds.enumerated() {
                try Data([UInt8(index)] + seed).write(to: URL(filePath: folder).appending(path: "\(kind)-\(number)"))
            }
        }
    }
}
