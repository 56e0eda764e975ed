import Foundation

extension HearthBench {
    /// How much memory a process holds, in bytes; by default this one.
    static func residentBytes(of process: String = "self") throws -> Int {
        let pages = try String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8).split(separator: " ")
        return (Int(pages[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }

    /// How much memory this process holds.
    static func residentMebibytes() throws -> Double {
        Double(try residentBytes()) / 1_048_576
    }
}
