#include <weft/preconditioners.hpp>

#include <iostream>

int main() {
  std::cout << "| name | what it is | A | parameters, with what they are if not given |\n|---|---|---|---|\n";
  for (const weft::PreconditionerKind& kind : weft::preconditioners()) {
    std::cout << "| `" << kind.name << "` | " << kind.summary << " | "
              << (kind.needs_positive_definite ? "symmetric, positive definite" : "any square one") << " | ";
    const char* comma = "";
    for (const weft::PreconditionerParameter& parameter : kind.parameters) {
      std::cout << comma << '`' << parameter.name << '=' << parameter.fallback << "` " << parameter.summary;
      comma = "; ";
    }
    std::cout << " |\n";
  }
}
