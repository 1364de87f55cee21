"""Why a compilation cache on disk had no program: what its entries were made of, compared."""
